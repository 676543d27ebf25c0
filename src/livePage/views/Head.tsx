/** The head of the page: the node, the connection, the views and the theme. */
import { hashOf, type Route } from "../model/route.ts";
import { shownShare } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";
import { type Theme, usePage } from "../page.ts";

const VIEWS: readonly (readonly [Route & { view: "marbles" | "pipeline" | "node" }, string])[] = [
  [{ view: "marbles" }, "Marbles"],
  [{ view: "pipeline" }, "Pipeline"],
  [{ view: "node" }, "Node"],
];

export function Head() {
  const page = usePage();
  const graph = page.graph.value;
  return (
    <header>
      <h1>
        <span class="logo" aria-hidden="true" />
        rxlet
        {graph !== undefined && <span class="node-name">{shownText(graph.node, 80)}</span>}
      </h1>
      <nav aria-label="Views">
        {VIEWS.map(([route, title]) => (
          <a key={title} href={hashOf(route)} aria-current={page.route.value.view === route.view ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <Usage />
      <ConnectionState />
      <ThemeSwitch />
    </header>
  );
}

const CONNECTION_TEXTS = {
  connecting: "connecting",
  live: "live",
  lost: "disconnected, trying again",
} as const;

function ConnectionState() {
  const state = usePage().connection.value;
  return (
    <p role="status" class={`connection ${state}`}>
      {CONNECTION_TEXTS[state]}
    </p>
  );
}

function Usage() {
  const node = usePage().node.value;
  if (node === undefined) return <p class="usage" />;
  const { usage, problems, pressures } = node;
  const shares = [
    ["CPU", shownShare(usage.cpuMillis, usage.cpuCapacityMillis)],
    ["memory", shownShare(usage.memoryBytes, usage.memoryCapacityBytes)],
    ["disk", shownShare(usage.diskBytes, usage.diskCapacityBytes)],
  ] as const;
  const alerts = [...pressures, ...(problems.length === 0 ? [] : ["node has problems"])];
  return (
    <p class="usage">
      {shares.map(([name, share]) => share !== undefined && <span key={name}>{`${name} ${share}`}</span>)}
      {alerts.map((alert) => (
        <a key={alert} class="badge failed" href={hashOf({ view: "node" })}>
          {shownText(alert, 40)}
        </a>
      ))}
    </p>
  );
}

const NEXT: Readonly<Record<Theme, Theme>> = { auto: "dark", dark: "light", light: "auto" };

function ThemeSwitch() {
  const { theme } = usePage();
  return (
    <button type="button" class="quiet" onClick={() => (theme.value = NEXT[theme.value])}>
      {`Theme: ${theme.value}`}
    </button>
  );
}
