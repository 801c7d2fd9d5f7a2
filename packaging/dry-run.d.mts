export interface Step {
  job: string;
  name: string;
  command?: string;
  leftOut?: string;
}
export function stepsOf(workflow: unknown): Step[];
