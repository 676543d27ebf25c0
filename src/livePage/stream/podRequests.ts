/** Requests about one pod. Failures are values: a text for the reader. */
import { LIVE_HEADER, LIVE_PATHS } from "../../core/live/liveMessages.ts";
import type { TimelineView } from "../../core/timeline/timelineView.ts";
import { createTailBuffer, logTail } from "../model/logTail.ts";
import { shownText } from "../model/shownText.ts";

export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

const TIMEOUT_MS = 10_000;
/** Bytes of a log that are read; the answer ends before in all but a faulty node. */
const MAX_READ_BYTES = 16_777_216;
const MAX_REASON = 300;

/** Reads the timeline of a pod. */
export const readTimeline = (namespace: string, name: string, signal: AbortSignal): Promise<Answer<TimelineView>> =>
  ask(LIVE_PATHS.timeline(namespace, name), { signal }, async (response) => (await response.json()) as TimelineView);

/** Reads the tail of a container's log as lines. */
export const readLog = (
  pod: { readonly namespace: string; readonly name: string },
  container: string,
  signal: AbortSignal,
): Promise<Answer<readonly string[]>> =>
  ask(LIVE_PATHS.logs(pod.namespace, pod.name, container), { signal }, tailLines);

/** Resets the backoffs of a pod, so that it is tried again now. */
export const retryPod = (namespace: string, name: string): Promise<Answer<string>> =>
  ask(LIVE_PATHS.retry(namespace, name), { method: "POST", headers: { [LIVE_HEADER]: "1" } }, async (response) =>
    shownText((await response.text()).trim(), MAX_REASON),
  );

async function ask<T>(
  path: string,
  { signal, ...init }: RequestInit,
  read: (response: Response) => Promise<T>,
): Promise<Answer<T>> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(path, { ...init, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    if (response.ok) return { ok: true, value: await read(response) };
    const said = shownText((await response.text()).trim(), MAX_REASON);
    return { ok: false, reason: said === "" ? `the node answered ${response.status}` : said };
  } catch (thrown) {
    if (timeout.aborted) return { ok: false, reason: "the node does not answer" };
    return { ok: false, reason: shownText(thrown instanceof Error ? thrown.message : String(thrown), MAX_REASON) };
  }
}

async function tailLines(response: Response): Promise<readonly string[]> {
  const buffer = createTailBuffer();
  const reader = response.body?.getReader();
  let bytes = 0;
  while (reader !== undefined) {
    const { value, done } = await reader.read();
    if (done) break;
    buffer.add(value);
    bytes += value.length;
    if (bytes > MAX_READ_BYTES) {
      await reader.cancel();
      break;
    }
  }
  const { text, isCut } = buffer.text();
  return logTail(text, isCut);
}
