/** The page: its head, the list of pods beside, and one of four views. */
import { useEffect } from "preact/hooks";
import { hashOf, type Route } from "../model/route.ts";
import { usePage } from "../page.ts";
import { FILTER_ID } from "./filterId.ts";
import { Head } from "./Head.tsx";
import { MarblesView } from "./MarblesView.tsx";
import { NodeView } from "./NodeView.tsx";
import { Overview } from "./Overview.tsx";
import { PipelineView } from "./PipelineView.tsx";
import { PodView } from "./PodView.tsx";

/** Views by the key that opens them. */
const KEYS: ReadonlyMap<string, Route> = new Map([
  ["1", { view: "marbles" }],
  ["2", { view: "pipeline" }],
  ["3", { view: "node" }],
]);

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement;

function pressGlobal(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  const route = KEYS.get(event.key);
  if (route !== undefined) location.hash = hashOf(route);
  if (event.key !== "/") return;
  event.preventDefault();
  location.hash = hashOf({ view: "marbles" });
  // The view may have to appear first.
  requestAnimationFrame(() => document.getElementById(FILTER_ID)?.focus());
}

export function App() {
  const page = usePage();
  const route = page.route.value;
  useEffect(() => {
    addEventListener("keydown", pressGlobal);
    return () => removeEventListener("keydown", pressGlobal);
  }, []);
  return (
    <>
      <a class="skip" href="#view" onClick={skip}>
        Skip to the view
      </a>
      <Head />
      <Overview />
      <main id="view" tabIndex={-1} data-view={route.view}>
        <View route={route} />
      </main>
    </>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("view")?.focus();
}

function View({ route }: { readonly route: Route }) {
  switch (route.view) {
    case "marbles":
      return <MarblesView />;
    case "pipeline":
      return <PipelineView />;
    case "node":
      return <NodeView />;
    case "pod":
      return <PodView key={hashOf(route)} namespace={route.namespace} name={route.name} />;
  }
}
