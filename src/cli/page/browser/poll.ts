/** Fetches the data once a second, while the page is visible and not paused. */
import type { AgentsAnswer } from '../../api/answer.js';

const INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;

interface Listener {
  readonly onData: (data: AgentsAnswer) => void;
  readonly onFailure: (reason: string) => void;
}

/** Fetches at once and from then on. Returns a function that pauses and resumes. */
export function poll(url: string, { onData, onFailure }: Listener): (paused: boolean) => void {
  let isPaused = false;
  let isFetching = false;
  let timer: number | undefined;
  const resume = (): void => {
    clearTimeout(timer);
    if (!isPaused && !document.hidden) void fetchData();
  };
  const fetchData = async (): Promise<void> => {
    if (isFetching) return;
    isFetching = true;
    const startMs = performance.now();
    try {
      const response = await fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const data = (await response.json()) as AgentsAnswer;
      if (!isPaused) onData(data);
    } catch (error) {
      onFailure(error instanceof Error ? error.message : String(error));
    } finally {
      isFetching = false;
    }
    clearTimeout(timer);
    if (!isPaused && !document.hidden) timer = setTimeout(resume, startMs + INTERVAL_MS - performance.now());
  };
  document.addEventListener('visibilitychange', resume);
  resume();
  return (paused) => {
    isPaused = paused;
    resume();
  };
}
