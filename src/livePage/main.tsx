/** Starts the page of the live view. */
import { effect } from "@preact/signals";
import { render } from "preact";
import { createPage, PageContext } from "./page.ts";
import { createPageState } from "./pageState.ts";
import { routeOf } from "./model/route.ts";
import { followStream } from "./stream/liveStream.ts";
import { keepTheme } from "./theme.ts";
import { App } from "./views/App.tsx";

/** Time between changes of countdowns. */
const TICK_MS = 250;

const state = createPageState(location.hash);
const page = createPage(state);
keepTheme(page.theme);
addEventListener("hashchange", () => (state.route.value = routeOf(location.hash)));
setInterval(() => (state.clock.value = state.now()), TICK_MS);
followStream({ take: (message) => state.take(message), connection: (now) => (state.connection.value = now) });
effect(() => {
  const name = state.graph.value?.node;
  document.title = name === undefined ? "rxlet" : `${name} \u00b7 rxlet`;
});
render(
  <PageContext.Provider value={page}>
    <App />
  </PageContext.Provider>,
  document.body,
);
