/** The part about transfers of a page of vLLM, as vLLM 0.32 prints it. */
import type { MovedSums } from '../../src/engines/engine-page.js';

/** Python prints each number as a float. */
const float = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value));

export function vllmPage({ transfers, bytes, transferUs, postUs }: MovedSums, startedMs = 0): string {
  const labels = '{engine="0",model_name="tiny"}';
  const histogram = (name: string, sum: number): string[] => [
    `# TYPE vllm:${name} histogram`,
    `vllm:${name}_bucket{engine="0",le="+Inf",model_name="tiny"} ${float(transfers)}`,
    `vllm:${name}_count${labels} ${float(transfers)}`,
    `vllm:${name}_sum${labels} ${float(sum)}`,
  ];
  const counters = ['failed_transfers', 'failed_notifications', 'kv_expired_reqs', 'notifications_after_expiry'];
  return [
    ...(startedMs > 0 ? [`process_start_time_seconds ${startedMs / 1000}`] : []),
    `vllm:num_requests_running${labels} 0.0`,
    ...histogram('nixl_xfer_time_seconds', transferUs / 1e6),
    ...histogram('nixl_post_time_seconds', postUs / 1e6),
    ...histogram('nixl_bytes_transferred', bytes),
    ...counters.map((name) => `vllm:nixl_num_${name}_total${labels} 0.0`),
    '',
  ].join('\n');
}
