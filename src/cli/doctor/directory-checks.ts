/** Checks of a directory of rings: whether it exists, which users may use it, and its file system. */
import { readdirSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { reasonOf } from '../../ground/errors.js';
import type { DoctorFinding } from '../../view/answers/doctor-finding.js';
import { finding, ok } from './finding.js';

export interface ExaminedPlace {
  /** For messages. */
  readonly title: string;
  /** As this process reaches it. */
  readonly path: string;
}

/**
 * Numbers of the file systems on which mappings may not be coherent, with names. Equal to incoherentFileSystem() of
 * native/ring/ring_file.cc.
 */
export const INCOHERENT_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x01021997: '9p',
  0x65735546: 'FUSE (or virtiofs)',
  0xfe534d42: 'SMB',
  0xff534d42: 'SMB',
};

/** Only a directory without a problem has rings that can be checked. `force`: rings on any file system are read. */
export function directoryFindings({ title, path: directory }: ExaminedPlace, force: boolean): DoctorFinding[] {
  const [subject, values] = [title, { DIR: title }];
  let stats;
  try {
    stats = statSync(directory, { throwIfNoEntry: false });
    if (stats === undefined) {
      return [finding('directory-missing', { subject, what: 'the directory does not exist', values })];
    }
    readdirSync(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') {
      const parent = { PARENT: path.dirname(title) };
      return [finding('not-a-directory', { subject, what: 'the path is that of a file', values: parent })];
    }
    const what = `the directory cannot be listed: ${reasonOf(error)}`;
    return [finding('directory-unreadable', { subject, what, values: { ...values, UID: stats?.uid ?? 'OWNER' } })];
  }
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  const network = INCOHERENT_FILE_SYSTEMS[statfsSync(directory).type >>> 0];
  const found = [ok('directory', subject, `the directory exists, with mode ${mode} and user ${stats.uid}`)];
  if (stats.mode & 0o002) {
    const user = process.getuid!();
    const name = user === 0 || user === stats.uid ? 'open-directory' : 'open-volume';
    found.push(
      finding(name, { subject, what: `any user may write: its mode is ${mode}`, values: { ...values, UID: user } }),
    );
  }
  if (network !== undefined && !force) {
    found.push(finding('network-file-system', { subject, what: `the directory is on ${network}` }));
  }
  return found;
}
