/** Path of transfer-source, the program behind `demo` and `simulate`. */
import { findNativeFile, howToBuild, isPrebuilt, platformName } from '../shm-bridge/native-files.js';
import { ExitCode, Failure } from '../process/failure.js';

/** @throws Failure that names what is missing, if the program cannot run on this machine. */
export function transferSource(): string {
  if (process.platform !== 'linux') {
    const message = `agents write rings on Linux only, and this is ${process.platform}: use a Linux container`;
    throw new Failure(message, ExitCode.INCOMPATIBLE);
  }
  const found = findNativeFile('transfer-source');
  if (found !== undefined) return found;
  const exitCode = isPrebuilt() ? ExitCode.FAILED : ExitCode.INCOMPATIBLE;
  throw new Failure(`no transfer-source for ${platformName()}; ${howToBuild()}`, exitCode);
}
