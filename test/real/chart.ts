/** The Helm chart of deploy/, and the programs that examine it. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../cli/command.js';
import { type Manifest, manifestsIn, type PodSpec } from '../deploy/manifests.js';
import { ifAtHand } from './at-hand.js';
import { buildGoTool } from './go-tool.js';

export const CHART = path.join(ROOT, 'deploy/helm/nixl-otel');
const MODULE = path.join(ROOT, 'test/real/helm');

interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Values of a chart, as in a file of values. */
export type Values = Record<string, unknown>;

export interface PodVerdict {
  level: 'privileged' | 'baseline' | 'restricted';
  /** Reasons of the next stricter level. */
  forbidden?: string;
}

export class ChartTools {
  readonly #helm: string;
  readonly #podSecurity: string;

  private constructor(helm: string, podSecurity: string) {
    this.#helm = helm;
    this.#podSecurity = podSecurity;
  }

  /** Builds the programs. Returns undefined, and prints why, where Go is missing. @throws with the output of `go` */
  static build(): Promise<ChartTools | undefined> {
    return ifAtHand('Go', async () => {
      const podSecurity = await buildGoTool(MODULE, './podsecurity');
      return new ChartTools(await buildGoTool(MODULE, 'helm.sh/helm/v3/cmd/helm'), podSecurity);
    });
  }

  /** Runs a command of Helm with values, as if for a cluster of the given version. */
  helm(args: readonly string[], values: Values, kubeVersion = 'v1.34.0'): Ended {
    const flags = ['--kube-version', kubeVersion, '--values', '-'];
    return spawnSync(this.#helm, [...args, ...flags], { input: JSON.stringify(values), encoding: 'utf8' });
  }

  /** Renders the named templates, or all. @throws with Helm's message */
  render(values: Values, templates: readonly string[] = [], chart = CHART): string {
    const only = templates.flatMap((name) => ['--show-only', `templates/${name}.yaml`]);
    const { status, stdout, stderr } = this.helm(['template', 'nixl-otel', chart, ...only], values);
    if (status !== 0) throw new Error(stderr);
    return stdout;
  }

  manifests(values: Values): Manifest[] {
    return manifestsIn(this.render(values));
  }

  /** The strictest Pod Security Standard that each pod meets. */
  podSecurity(specs: readonly PodSpec[]): PodVerdict[] {
    const pods = specs.map((spec) => ({ metadata: { name: 'pod' }, spec }));
    const { status, stdout, stderr } = spawnSync(this.#podSecurity, {
      input: JSON.stringify(pods),
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as PodVerdict[];
  }
}
