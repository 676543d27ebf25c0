/** The open marble: its value, its causes and its effects. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import { MAX_DETAIL } from "../../core/live/liveMessages.ts";
import { causesOf, effectTree } from "../model/marbleStore.ts";
import { hashOf } from "../model/route.ts";
import { shownDuration, shownTimeOfDay } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";
import { usePage } from "../page.ts";

const MAX_LISTED = 20;
const MAX_DETAIL_LINES = 80;

export function Inspector({ close }: { readonly close: () => void }) {
  const { marbles } = usePage();
  const marble = marbles.opened.value;
  if (marble === undefined) return null;
  return (
    <section
      id="inspector"
      class="inspector"
      tabIndex={-1}
      aria-label="Open marble"
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <button type="button" class="quiet close" aria-label="Close the marble" onClick={close}>
        {"\u00d7"}
      </button>
      <h2>{marble.text}</h2>
      <Facts marble={marble} />
      <button type="button" class="fit" onClick={() => marbles.fit(marble)}>
        Zoom to its causes and effects
      </button>
      {marble.detail !== undefined && <pre>{detailLines(marble.detail)}</pre>}
      <Related title="Led here" marbles={causesOf(marbles.store, marble)} none="No cause is known." />
      <Effects marble={marble} />
    </section>
  );
}

const detailLines = (detail: string): string =>
  detail
    .slice(0, MAX_DETAIL)
    .split("\n")
    .slice(0, MAX_DETAIL_LINES)
    .map((line) => shownText(line))
    .join("\n");

function Facts({ marble }: { readonly marble: LiveMarble }) {
  const { marbles } = usePage();
  const { place, part, pod, at, tookMs, outcome } = marble;
  return (
    <dl>
      <dt>place</dt>
      <dd>{place}</dd>
      {part !== undefined && <Fact name="written by" value={part} />}
      <Fact name="at" value={`${shownTimeOfDay(at, true)} UTC`} />
      {tookMs !== undefined && <Fact name="took" value={shownDuration(tookMs)} />}
      {outcome !== undefined && (
        <>
          <dt>outcome</dt>
          <dd class={outcome === "warning" ? "warning" : "failed"}>{outcome}</dd>
        </>
      )}
      {pod !== undefined && (
        <>
          <dt>pod</dt>
          <dd>
            <PodOf uid={pod} />{" "}
            <button type="button" class="quiet" onClick={() => marbles.choose({ pod, kind: "place" })}>
              only this pod, by place
            </button>
          </dd>
        </>
      )}
    </dl>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function PodOf({ uid }: { readonly uid: string }) {
  const { marbles, pods } = usePage();
  const pod = pods.value?.find((known) => known.uid === uid);
  const name = marbles.podName(uid);
  return pod === undefined ? (
    <>{name}</>
  ) : (
    <a href={hashOf({ view: "pod", namespace: pod.namespace, name: pod.name })}>{name}</a>
  );
}

/** Effects may still come: the clock makes it look again. */
function Effects({ marble }: { readonly marble: LiveMarble }) {
  const { marbles, clock } = usePage();
  const effects = clock.value > 0 ? effectTree(marbles.store, marble) : [];
  return <Related title="Led to" marbles={effects} none="No effect is known yet." />;
}

interface RelatedProps {
  readonly title: string;
  readonly marbles: readonly LiveMarble[];
  readonly none: string;
}

function Related({ title, marbles: related, none }: RelatedProps) {
  const { marbles } = usePage();
  const go = (marble: LiveMarble): void => {
    marbles.visit(marble);
    marbles.opened.value = marble;
  };
  return (
    <>
      <h3>{title}</h3>
      {related.length === 0 && <p class="muted">{none}</p>}
      <ul class="related">
        {related.slice(0, MAX_LISTED).map((marble) => (
          <li key={marble.id}>
            <button type="button" onClick={() => go(marble)}>
              <span class="muted">{marble.place}</span>
              {` ${marble.text}`}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
