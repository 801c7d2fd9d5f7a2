/** Checks manifests against the schemas of Kubernetes and of the Prometheus operator. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, temporaryDirectory } from '../cli/command.js';
import { tool } from '../support/package.js';
import type { Manifest } from './manifests.js';

const PACKAGES = {
  kubernetes: ['kubernetes-models@5.1.0', 'kubernetes-models'],
  operator: ['@kubernetes-models/prometheus-operator@6.0.0', '@kubernetes-models/prometheus-operator'],
} as const;

type Model = new (data: unknown) => { validate: () => void };

/** Module with the schema and the type of a kind. */
async function modelOf({ apiVersion, kind }: Manifest): Promise<string> {
  const [spec, name] = apiVersion.startsWith('monitoring.') ? PACKAGES.operator : PACKAGES.kubernetes;
  const manifest = await tool(spec, `${name}/package.json`);
  return path.join(path.dirname(manifest), apiVersion, `${kind}.js`);
}

/** Returns the messages of the compiler about a program. */
function compile(source: string): string {
  const file = path.join(temporaryDirectory(), 'check.ts');
  writeFileSync(file, source);
  const flags = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext'];
  try {
    execFileSync(process.execPath, [path.join(ROOT, 'node_modules/typescript/bin/tsc'), ...flags, file]);
    return '';
  } catch (error) {
    return (error as { stdout: Buffer }).stdout.toString();
  }
}

/** Line of a program with the fields of a manifest: the compiler refuses unknown ones, which a schema accepts. */
function lineOf(model: string, manifest: Manifest): string {
  const { kind, ...fields } = manifest;
  delete (fields as Partial<Manifest>).apiVersion;
  return `void import(${JSON.stringify(model)}).then(({ ${kind} }) => new ${kind}(${JSON.stringify(fields)}));\n`;
}

/** Returns what is wrong with manifests: values outside of the schema of their kind, and fields that it lacks. */
export async function problemsOf(manifests: readonly Manifest[]): Promise<string[]> {
  const models: string[] = [];
  for (const manifest of manifests) models.push(await modelOf(manifest)); // one after the other: the first one installs
  const problems = manifests.map(async (manifest, i) => {
    const { [manifest.kind]: Model } = (await import(models[i]!)) as Record<string, Model>;
    try {
      new Model!(manifest).validate();
      return '';
    } catch (error) {
      return `${manifest.kind}: ${(error as Error).message}`;
    }
  });
  const lines = manifests.map((manifest, i) => lineOf(models[i]!, manifest));
  return [...(await Promise.all(problems)), compile(lines.join(''))].filter((problem) => problem !== '');
}
