/** Repeats a request while a view is shown and the page is visible. */
import { useEffect } from "preact/hooks";

/** Runs `task` at once, and again `pauseMs` after it has ended. Its signal aborts when the view goes. */
export function useRepeated(
  pauseMs: number,
  task: (signal: AbortSignal) => Promise<void>,
  inputs: readonly unknown[] = [],
): void {
  useEffect(() => {
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async (): Promise<void> => {
      if (!document.hidden) await task(ended.signal);
      if (!ended.signal.aborted) timer = setTimeout(start, pauseMs);
    };
    const start = (): void => {
      run().catch(() => undefined);
    };
    start();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [...inputs]);
}
