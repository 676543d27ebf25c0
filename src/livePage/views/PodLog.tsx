/** The tail of a container's log. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { LivePod } from "../../core/live/liveMessages.ts";
import { shownText } from "../model/shownText.ts";
import { type Answer, readLog } from "../stream/podRequests.ts";
import { useRepeated } from "./useRepeated.ts";

/** Time between readings of the log. */
const READ_MS = 2_000;
/** Distance from the end at which the log follows new lines. */
const FOLLOW_PX = 24;

export function PodLog({ pod }: { readonly pod: LivePod }) {
  const chosen = useSignal<string | undefined>(undefined);
  const first = pod.containers.find(({ kind, state }) => kind === "main" && state !== "waiting") ?? pod.containers[0];
  const container = chosen.value ?? first?.name ?? "";
  return (
    <section class="log" aria-label="Log">
      <h3>
        <label for="log-of">Log of</label>
        <select id="log-of" value={container} onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}>
          {pod.containers.map(({ name }) => (
            <option key={name} value={name}>
              {shownText(name, 63)}
            </option>
          ))}
        </select>
      </h3>
      <Lines key={container} pod={pod} container={container} />
    </section>
  );
}

function Lines({ pod, container }: { readonly pod: LivePod; readonly container: string }) {
  const answer = useSignal<Answer<readonly string[]> | undefined>(undefined);
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useRepeated(READ_MS, async (signal) => {
    const read = await readLog(pod, container, signal);
    if (signal.aborted) return;
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < FOLLOW_PX;
    answer.value = read;
  });
  useEffect(() => {
    if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [answer.value]);
  if (answer.value === undefined) return <p class="muted">Reading the log.</p>;
  if (!answer.value.ok) return <p class="muted">{`No log: ${answer.value.reason}`}</p>;
  const lines = answer.value.value;
  return (
    <pre ref={box} tabIndex={0} role="region" aria-label={`Log of ${shownText(container, 63)}`}>
      {lines.length === 0 ? "The log is empty." : lines.join("\n")}
    </pre>
  );
}
