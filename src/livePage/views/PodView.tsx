/** A pod: why it is where it is, its timeline, its containers and their logs. */
import { useSignal } from "@preact/signals";
import type { LivePod } from "../../core/live/liveMessages.ts";
import type { TimelineView } from "../../core/timeline/timelineView.ts";
import { podHealth, podTroubles } from "../model/podTroubles.ts";
import { hashOf } from "../model/route.ts";
import { shownText } from "../model/shownText.ts";
import { usePage } from "../page.ts";
import { type Answer, readTimeline, retryPod } from "../stream/podRequests.ts";
import { Reason } from "./Overview.tsx";
import { PodEntries } from "./PodEntries.tsx";
import { PodLog } from "./PodLog.tsx";
import { PodTimeline } from "./PodTimeline.tsx";
import { useRepeated } from "./useRepeated.ts";
import { Table } from "./Table.tsx";

interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** Time between readings of the timeline. */
const READ_MS = 2_000;

export function PodView({ namespace, name }: PodName) {
  const page = usePage();
  const answer = useSignal<Answer<TimelineView> | undefined>(undefined);
  useRepeated(READ_MS, async (signal) => {
    const read = await readTimeline(namespace, name, signal);
    if (!signal.aborted) answer.value = read;
  });
  const pod = page.pods.value?.find((known) => known.namespace === namespace && known.name === name);
  const timeline = answer.value?.ok === true ? answer.value.value : undefined;
  return (
    <article class="pod-view" aria-label="Pod">
      <PodHead namespace={namespace} name={name} pod={pod} />
      {pod !== undefined && <Why pod={pod} />}
      {answer.value?.ok === false && <p class="failed">{`No timeline: ${answer.value.reason}`}</p>}
      {timeline !== undefined && <PodTimeline timeline={timeline} />}
      {pod !== undefined && pod.containers.length > 0 && <Containers pod={pod} />}
      {pod !== undefined && pod.containers.length > 0 && <PodLog pod={pod} />}
      {timeline !== undefined && <PodEntries timeline={timeline} />}
    </article>
  );
}

function PodHead({ namespace, name, pod }: PodName & { readonly pod: LivePod | undefined }) {
  const { marbles } = usePage();
  const showMarbles = (): void => {
    if (pod === undefined) return;
    marbles.choose({ pod: pod.uid, kind: "place" });
    location.hash = hashOf({ view: "marbles" });
  };
  return (
    <div class="pod-head">
      <h2>
        <span class="muted">{`${shownText(namespace, 63)}/`}</span>
        {shownText(name, 253)}
      </h2>
      {pod === undefined ? (
        <span class="badge">not on this node</span>
      ) : (
        <>
          <span class="badge">{shownText(pod.phase ?? "no phase yet", 40)}</span>
          <span class="badge">{shownText(pod.state, 40)}</span>
          <span class="muted">{`from ${shownText(pod.source, 40)}, UID ${shownText(pod.uid, 64)}`}</span>
          <span class="space" />
          <button type="button" onClick={showMarbles}>
            Its marbles
          </button>
          <Retry namespace={namespace} name={name} />
        </>
      )}
    </div>
  );
}

function Retry({ namespace, name }: PodName) {
  const said = useSignal("");
  const isAsking = useSignal(false);
  const retry = async (): Promise<void> => {
    isAsking.value = true;
    const answer = await retryPod(namespace, name);
    isAsking.value = false;
    said.value = answer.ok ? answer.value || "Tried again." : `Not tried again: ${answer.reason}`;
  };
  const press = (): void => {
    retry().catch((thrown: unknown) => (said.value = String(thrown)));
  };
  return (
    <>
      <button type="button" class="main" disabled={isAsking.value} onClick={press}>
        Try again now
      </button>
      <span role="status" class="answer">
        {said.value}
      </span>
    </>
  );
}

function Why({ pod }: { readonly pod: LivePod }) {
  const { clock } = usePage();
  const health = podHealth(pod, clock.value);
  const troubles = podTroubles(pod);
  return (
    <section class={`why ${health}`} aria-label="Why it is where it is">
      <h3>{TITLES[health]}</h3>
      {troubles.length === 0 && <p class="muted">Nothing holds it up.</p>}
      {troubles.map((trouble, at) => (
        <Reason key={at} trouble={trouble} />
      ))}
    </section>
  );
}

const TITLES = { ready: "Ready", done: "Done", starting: "On its way", trouble: "Why it is not ready" } as const;

function Containers({ pod }: { readonly pod: LivePod }) {
  return (
    <section aria-label="Containers">
      <h3>Containers</h3>
      <Table label="Table of containers" columns={["Name", "Kind", "State", "Ready", { number: "Restarts" }]}>
        {pod.containers.map(({ name, kind, state, reason, ready, restarts }) => (
          <tr key={name}>
            <th scope="row">{shownText(name, 63)}</th>
            <td>{kind}</td>
            <td>{reason === undefined ? state : `${state}: ${shownText(reason, 60)}`}</td>
            <td>{ready ? "yes" : "no"}</td>
            <td class="number">{restarts}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
