/** The pods of the node, with the reasons of each that is not ready. It is visible beside each view. */
import type { LivePod } from "../../core/live/liveMessages.ts";
import { type PodHealth, podTroubles, type PodTrouble, type RankedPod } from "../model/podTroubles.ts";
import { hashOf } from "../model/route.ts";
import type { SteadyPod } from "../model/steadyHealth.ts";
import { shownText } from "../model/shownText.ts";
import { usePage } from "../page.ts";
import { Countdown, Since } from "./Instants.tsx";

/** Pods with reasons, pods without, and reasons of a pod that are listed. */
const MAX_EXPLAINED = 100;
const MAX_PLAIN = 1_000;
const MAX_REASONS = 3;

export function Overview() {
  const { ranked } = usePage();
  const pods = ranked.value;
  if (pods === undefined) {
    return (
      <aside aria-label="Pods">
        <h2>Pods</h2>
        <p class="muted">Waiting for the node.</p>
      </aside>
    );
  }
  const of = (...healths: readonly PodHealth[]): readonly SteadyPod[] =>
    pods.filter(({ health }) => healths.includes(health));
  const trouble = of("trouble");
  return (
    <aside aria-label="Pods">
      <h2>
        Pods <span class="count">{pods.length}</span>
        {trouble.length > 0 && <span class="badge warning">{`${trouble.length} in trouble`}</span>}
      </h2>
      {pods.length === 0 && <p class="muted">No pods on this node yet.</p>}
      <Explained pods={trouble} />
      <Explained pods={of("starting")} />
      <Plain title="ready" pods={of("ready")} />
      <Plain title="done" pods={of("done")} />
    </aside>
  );
}

function Explained({ pods }: { readonly pods: readonly SteadyPod[] }) {
  if (pods.length === 0) return null;
  return (
    <ul class="explained">
      {pods.slice(0, MAX_EXPLAINED).map(({ pod, health, past }) => (
        <li key={pod.uid} class={health}>
          <PodLink pod={pod} health={health} />
          {past === undefined ? <Reasons pod={pod} /> : <Past past={past} />}
        </li>
      ))}
      {pods.length > MAX_EXPLAINED && <li class="muted">{`and ${pods.length - MAX_EXPLAINED} more`}</li>}
    </ul>
  );
}

/** A pod that has just recovered. */
function Past({ past }: { readonly past: readonly PodTrouble[] }) {
  return (
    <p class="reason">
      <span class="muted">runs again after </span>
      <b>{shownText(past[0]?.title ?? "trouble", 60)}</b>
    </p>
  );
}

function Reasons({ pod }: { readonly pod: LivePod }) {
  const troubles = podTroubles(pod);
  if (troubles.length === 0) return <p class="muted">starting</p>;
  return (
    <>
      {troubles.slice(0, MAX_REASONS).map((trouble, at) => (
        <Reason key={at} trouble={trouble} />
      ))}
      {troubles.length > MAX_REASONS && <p class="muted">{`and ${troubles.length - MAX_REASONS} more reasons`}</p>}
    </>
  );
}

/** A reason with its container, its cause, how long it has lasted, and its timer. */
export function Reason({ trouble }: { readonly trouble: PodTrouble }) {
  const { title, container, cause, since, next, ahead } = trouble;
  return (
    <p class="reason">
      <b>{shownText(title, 60)}</b>
      {container !== undefined && <span class="container">{shownText(container, 63)}</span>}
      {since !== undefined && (
        <span class="muted">
          {"for "}
          <Since at={since} />
        </span>
      )}
      {next !== undefined && (
        <span class="due">
          {`${shownText(next.what, 40)} `}
          <Countdown at={next.at} />
        </span>
      )}
      {cause !== undefined && <span class="cause">{shownText(cause)}</span>}
      {ahead > 0 && <span class="muted">{`${ahead} ahead`}</span>}
    </p>
  );
}

function Plain({ title, pods }: { readonly title: string; readonly pods: readonly RankedPod[] }) {
  if (pods.length === 0) return null;
  return (
    <details open={pods.length <= 40}>
      <summary>{`${pods.length} ${title}`}</summary>
      <ul class="plain">
        {pods.slice(0, MAX_PLAIN).map(({ pod, health }) => (
          <li key={pod.uid}>
            <PodLink pod={pod} health={health} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function PodLink({ pod: { namespace, name }, health }: RankedPod) {
  const page = usePage();
  const { route } = page;
  const isShown = route.value.view === "pod" && route.value.namespace === namespace && route.value.name === name;
  return (
    <a class="pod" href={hashOf({ view: "pod", namespace, name })} aria-current={isShown ? "page" : undefined}>
      <span class={`mark ${health}`} aria-hidden="true" />
      <span class="name">
        <span class="muted">{`${shownText(namespace, 63)}/`}</span>
        {shownText(name, 253)}
      </span>
    </a>
  );
}
