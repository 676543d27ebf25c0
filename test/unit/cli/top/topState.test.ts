import { describe, expect, it } from "vitest";
import { advanceTop, EMPTY_MODEL, type TopModel } from "../../../../src/cli/top/topModel.ts";
import type { PodPage } from "../../../../src/cli/top/topPod.ts";
import {
  afterKey,
  afterModel,
  afterPage,
  afterRetry,
  beginTop,
  type TopState,
} from "../../../../src/cli/top/topState.ts";
import { topLines } from "../../../../src/cli/top/topViews.ts";
import type { LiveNode, LivePod } from "../../../../src/core/live/liveMessages.ts";

const NOW = 1_000_000;
const SIZE = { columns: 60, rows: 10 };

const pod = (name: string, more: Partial<LivePod> = {}): LivePod => ({
  ...{ uid: `uid-${name}`, namespace: "demo", name, source: "api", state: "syncing", phase: "Running", waits: [] },
  containers: [
    { name: "setup", kind: "init", state: "terminated", ready: false, restarts: 0 },
    { name: "main", kind: "main", state: "running", ready: true, restarts: 2 },
  ],
  ...more,
});
const modelOf = (...pods: readonly LivePod[]): TopModel => advanceTop(EMPTY_MODEL, { kind: "pods", at: NOW, pods });
const numbered = (count: number) => Array.from({ length: count }, (_, at) => pod(`p${at}`));
const withPods = (...pods: readonly LivePod[]): TopState => afterModel(beginTop("pods", true), modelOf(...pods));
const press = (state: TopState, ...keys: readonly string[]): TopState =>
  keys.reduce((now, key) => afterKey(now, key, SIZE), state);
const shown = (state: TopState, size = SIZE): readonly string[] => topLines(state, size, NOW);
const marked = (state: TopState): string | undefined =>
  shown(state)
    .find((line) => line.startsWith(">"))
    ?.split(/ +/)[1];

/** The page that is open. */
function pageOf({ pod: open }: TopState): PodPage {
  if (open === undefined) throw new Error("no pod is open");
  return open.page;
}
const answered = (state: TopState, answer: readonly string[] | string): TopState =>
  afterPage(state, pageOf(state), answer);
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`);

describe("the views of rxlet top", () => {
  it("are chosen by digits and Tab", () => {
    const views = ["2", "4", "tab", "tab", "9", "x"].reduce<readonly TopState[]>(
      (states, key) => [...states, press(states.at(-1) ?? beginTop("pods", true), key)],
      [],
    );
    expect(views.map(({ view }) => view)).toEqual(["pipeline", "node", "pods", "pipeline", "pipeline", "pipeline"]);
  });

  it("end with q and Ctrl-C, in a pod too", () => {
    const states = [press(withPods(pod("a")), "q"), press(withPods(pod("a")), "return", "ctrl-c"), withPods(pod("a"))];
    expect(states.map(({ isOver }) => isOver)).toEqual([true, true, false]);
  });
});

describe("a view that is longer than the screen", () => {
  const calls = Array.from({ length: 9 }, (_, at) => ({
    ...{ target: "api" as const, name: `CALL${at}`, count: 1, failed: 0 },
  }));
  const node: LiveNode = {
    ...{ kind: "node", at: NOW, problems: [], usage: {}, pressures: [], signals: [], evictionOrder: [], devices: [] },
    calls,
  };
  const state = press(afterModel(beginTop("pods", true), advanceTop(EMPTY_MODEL, node)), "4");

  it("scrolls within its lines", () => {
    const seen = (...keys: readonly string[]) => shown(press(state, ...keys)).slice(2);
    expect(seen()).toHaveLength(SIZE.rows - 3);
    expect([seen()[0], seen().at(-1)]).toEqual(["pressure  none", "lines 1 to 6 of 15"]);
    expect([seen("down", "down")[0], seen("end").at(-1), seen("end", "up").at(-1), seen("up").at(-1)]).toEqual([
      "SIGNAL  AVAILABLE  THRESHOLD",
      "lines 10 to 15 of 15",
      "lines 9 to 14 of 15",
      "lines 1 to 6 of 15",
    ]);
    expect(seen("end").at(-2)).toMatch(/^api CALL8/);
  });

  it("is shown from its beginning when it is chosen again", () => {
    expect(shown(press(state, "end", "1", "4")).at(-1)).toBe("lines 1 to 6 of 15");
  });
});

describe("the cursor over the pods", () => {
  it("moves by rows, pages and to both ends, and stays among the pods", () => {
    const state = withPods(...numbered(9));
    const after = (...keys: readonly string[]) => marked(press(state, ...keys));
    expect([after(), after("down"), after("j", "j", "k"), after("up"), after("pagedown")]).toEqual(
      ["p0", "p1", "p1", "p0", "p3"].map((name) => `demo/${name}`),
    );
    expect([after("end"), after("end", "down"), after("end", "pageup"), after("end", "home")]).toEqual(
      ["p8", "p8", "p5", "p0"].map((name) => `demo/${name}`),
    );
  });

  it("is always in sight, with the rows around it", () => {
    const state = press(withPods(...numbered(20)), "end", "up");
    expect(shown(state).slice(2)).toEqual([
      "  POD       READY  STATE    RESTARTS  WAITS FOR",
      ...["  demo/p15", "  demo/p16", "  demo/p17", "> demo/p18", "  demo/p19"].map(
        (name) => `${name}  1/1    Running  2`,
      ),
      "  pods 16 to 20 of 20",
    ]);
    for (const key of ["home", "end"]) {
      const seen = shown(press(state, key));
      expect([seen.length, seen.some((line) => line.startsWith(">"))]).toEqual([SIZE.rows - 1, true]);
    }
  });

  it("stays on its pod while others come and go, and at its row when the pod goes", () => {
    const state = press(withPods(pod("a"), pod("b"), pod("c")), "down");
    const later = afterModel(state, modelOf(pod("new"), pod("a"), pod("b"), pod("c")));
    expect(marked(later)).toBe("demo/b");
    const without = afterModel(later, modelOf(pod("new"), pod("a"), pod("c")));
    expect(marked(without)).toBe("demo/c");
    expect(marked(afterModel(without, modelOf(pod("new"))))).toBe("demo/new");
  });

  it("opens nothing on a node without pods, and in other views", () => {
    expect(shown(press(withPods(), "down", "return")).at(-1)).toBe("No pods.");
    expect(press(withPods(pod("a")), "4", "return", "down")).toMatchObject({ view: "node", pod: undefined });
  });
});

describe("an open pod", () => {
  const opened = press(withPods(pod("a"), pod("b")), "down", "return");

  it("shows its timeline below what it waits for now", () => {
    const wait = { what: "CrashLoopBackOff", container: "main", next: { what: "next try", at: NOW + 3_000 } };
    const waiting = afterModel(answered(opened, ["demo/b  Running", "So far"]), modelOf(pod("b", { waits: [wait] })));
    expect(shown(waiting, { columns: 100, rows: 20 })).toEqual([
      "demo/b   [timeline]  l log of main   r tries again   Esc goes back   q ends",
      "Running  1/1 ready  2 restarts  CrashLoopBackOff main, next try in 3s",
      "",
      "",
      "demo/b  Running",
      "So far",
    ]);
  });

  it("says what it reads, and why it cannot", () => {
    expect(shown(opened).at(-1)).toBe("Reading the timeline.");
    const failed = answered(answered(opened, ["kept"]), "the node answered\u001b[2J 500");
    expect(shown(failed).slice(2)).toEqual(["! the node answered?[2J 500", "", "kept"]);
    expect(shown(answered(failed, ["new"])).slice(2)).toEqual(["", "", "new"]);
  });

  it("scrolls by rows and pages within its lines, which are wrapped", () => {
    const state = answered(opened, ["x".repeat(SIZE.columns + 1), ...lines(9)]);
    const first = (...keys: readonly string[]) => shown(press(state, ...keys))[4];
    expect([first("down"), first("down", "down"), first("pagedown"), first("end"), first("end", "up")]).toEqual([
      "x",
      "line 0",
      "line 1",
      "line 5",
      "line 4",
    ]);
    expect(first("up")).toBe("x".repeat(SIZE.columns));
    expect(shown(press(state, "end")).slice(4)).toEqual([...lines(9).slice(5), "lines 8 to 11 of 11"]);
  });

  it("switches to the end of the log of its first container, follows it, and stands still above it", () => {
    const log = press(opened, "l");
    expect(pageOf(log)).toEqual({ kind: "log", namespace: "demo", name: "b", container: "main" });
    const seen = (state: TopState) => shown(state).slice(4, -1);
    expect(seen(answered(log, lines(9)))).toEqual(lines(9).slice(5));
    expect(seen(answered(answered(log, lines(9)), lines(10)))).toEqual(lines(10).slice(6));
    const above = press(answered(log, lines(9)), "up");
    expect(seen(answered(above, lines(10)))).toEqual(lines(8).slice(4));
    expect(seen(answered(press(above, "down"), lines(10)))).toEqual(lines(10).slice(6));
    expect(pageOf(press(log, "l")).kind).toBe("timeline");
  });

  it("has no log before it has a container", () => {
    const bare = press(withPods(pod("a", { containers: [] })), "return", "l");
    expect([pageOf(bare).kind, shown(bare)[2]]).toEqual(["timeline", "! the pod has no container yet"]);
  });

  it("takes no answer about another page", () => {
    const log = press(opened, "l");
    expect(afterPage(log, pageOf(opened), ["late"])).toBe(log);
    expect(afterPage(press(opened, "escape"), pageOf(opened), ["late"]).pod).toBeUndefined();
  });

  it("is tried again once for each answer, which is shown", () => {
    const asked = press(opened, "r");
    expect(shown(asked)[2]).toBe("trying again");
    expect(press(asked, "r").pod?.retry).toBe(asked.pod?.retry);
    if (asked.pod === undefined) throw new Error("no pod is open");
    const told = afterRetry(asked, asked.pod, "demo/b: backoffs are reset");
    expect(shown(told)[2]).toBe("demo/b: backoffs are reset");
    expect(press(told, "r").pod?.retry.isAsked).toBe(true);
    const other = press(asked, "backspace", "up", "return");
    expect(afterRetry(other, asked.pod, "late")).toBe(other);
  });

  it("is left by Escape, Backspace and the keys of views", () => {
    const after = (key: string) => press(opened, key);
    expect([after("escape"), after("backspace"), after("4"), after("x")].map((state) => state.pod?.name)).toEqual([
      ...[undefined, undefined, undefined],
      "b",
    ]);
    expect(marked(after("escape"))).toBe("demo/b");
  });

  it("says that the node has it no longer, and that the node does not answer", () => {
    const gone = afterModel(answered(opened, ["kept"]), { ...modelOf(pod("a")), problem: "the connection broke off" });
    expect(shown(gone).slice(1)).toEqual(["The node has it no longer.", "! the connection broke off", "", "kept"]);
  });
});
