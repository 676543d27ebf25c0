import { concat, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { bannerLines, type DevBanner } from "../../../src/cli/devBanner.ts";
import { podTable } from "../../../src/cli/podTable.ts";
import type { Pod, PodStatus } from "../../../src/core/api.ts";
import type { ManifestProblem } from "../../../src/core/pod/sourceSnapshot.ts";
import { marbles, TEST_EPOCH_MS } from "../../support/marbles.ts";
import { screenAfter } from "../../support/virtualTerminal.ts";

const banner: DevBanner = {
  program: "rxlet",
  manifests: "examples/first-pods",
  isEmpty: false,
  kubeconfig: "/run/kubeconfig",
  readOnly: "http://127.0.0.1:10255",
  portInUse: undefined,
  twinPid: undefined,
  log: "/tmp/rxlet.log",
};
const HEAD = bannerLines(banner, undefined);
const HEADER = { header$: of(banner), manifests: banner.manifests };

const pod = (name: string, status: PodStatus, namespace = "default"): Pod => ({
  metadata: { name, namespace, uid: `${name}-uid`, creationTimestamp: new Date(TEST_EPOCH_MS - 5000).toISOString() },
  spec: { containers: [{ name: "a", image: "i" }] },
  status,
});
const pending = pod("web", { phase: "Pending" });
const running = pod("web", {
  phase: "Running",
  podIPs: [{ ip: "10.0.0.2" }],
  containerStatuses: [
    {
      name: "a",
      image: "i",
      imageID: "i",
      ready: true,
      restartCount: 1,
      state: { running: {} },
      lastState: { terminated: { exitCode: 1, finishedAt: new Date(TEST_EPOCH_MS - 3000).toISOString() } },
    },
  ],
});
const job = pod("job", { phase: "Succeeded", reason: "Completed" }, "batch");

const CHANGES: Readonly<Record<string, readonly Pod[]>> = {
  e: [],
  p: [pending],
  r: [running],
  b: [running, job],
  j: [job],
};

const TYPO: ManifestProblem = {
  severity: "error",
  origin: "examples/first-pods/typo.yaml",
  line: 9,
  field: "spec.containers[0].image",
  reason: "Required value",
  pod: undefined,
};
const PROBLEMS: Readonly<Record<string, readonly ManifestProblem[]>> = { n: [], t: [TYPO] };

describe("podTable in a pipe", () => {
  const line = (second: number, text: string) => `2026-01-01T00:00:0${second}Z  ${text}\n`;

  it(
    "prints the header, then one line per pod that changed or left, and nothing else as time passes",
    marbles(({ hot, clock, expectObservable }) => {
      const changes = " p 999ms r 999ms r 999ms b 999ms j 4999ms |";
      const expected = "(hp) 996ms r 1999ms b 999ms j 4999ms |";

      const changes$ = hot(changes, CHANGES);
      const output$ = podTable({ changes$, problems$: of([]), clock, ...HEADER, terminal$: undefined });
      expectObservable(output$).toBe(expected, {
        h: `${HEAD.join("\n")}\n`,
        p: line(0, "web                       0/1    Pending                     0 restarts   <none>"),
        r: line(1, "web                       1/1    Running                     1 restart    10.0.0.2"),
        b: line(3, "batch/job                 0/1    Completed                   0 restarts   <none>"),
        j: line(4, "web                       removed"),
      });
    }),
  );

  it(
    "prints what is known of the header at once, and the rest when it is",
    marbles(({ hot, clock, expectObservable }) => {
      const header = "  e 999ms h 999ms h 999ms |";
      const changes = " 3s |";
      const expected = "e 999ms h 1999ms |";

      const early = { ...banner, kubeconfig: undefined };
      const header$ = hot(header, { e: early, h: banner });
      const output$ = podTable({
        ...HEADER,
        header$,
        changes$: hot(changes),
        problems$: of([]),
        clock,
        terminal$: undefined,
      });
      expectObservable(output$).toBe(expected, {
        e: `${bannerLines(early, undefined).join("\n")}\n`,
        h: `${HEAD.slice(2, 5).join("\n")}\n`,
      });
    }),
  );

  it(
    "prints a line for a problem of a manifest when it appears and when it is resolved",
    marbles(({ hot, clock, expectObservable }) => {
      const problems = "n 999ms t 999ms n 999ms |";
      const changes = " 3s |";
      const expected = "h 999ms t 999ms r 999ms |";

      const problems$ = hot(problems, PROBLEMS);
      const output$ = podTable({ changes$: hot(changes), problems$, clock, ...HEADER, terminal$: undefined });
      expectObservable(output$).toBe(expected, {
        h: `${HEAD.join("\n")}\n`,
        t: line(1, "error     typo.yaml:9: spec.containers[0].image: Required value"),
        r: line(2, "resolved  typo.yaml:9: spec.containers[0].image: Required value"),
      });
    }),
  );

  it(
    "prints what is wrong with a pod, though only its cause changed, and nothing of what passes at once",
    marbles(({ hot, clock, expectObservable }) => {
      const changes = " r";
      const unsub = "   2500ms !";
      const expected = "r 99ms a 1999ms b";

      const texts = ["passing", "main: no image", "main: no image", "main: exit code 3"];
      const troubles = () => [
        { namespace: "default", name: "web", text: texts[Math.ceil(clock.monotonicMs() / 1000)] ?? "" },
      ];
      const options = { ...HEADER, header$: NEVER, problems$: NEVER, clock, terminal$: undefined, troubles };
      const output$ = podTable({ ...options, changes$: hot(changes, CHANGES) });
      expectObservable(output$, unsub).toBe(expected, {
        r: line(0, "web                       1/1    Running                     1 restart    10.0.0.2"),
        a: line(0, "warning   web: main: no image"),
        b: line(2, "warning   web: main: exit code 3"),
      });
    }),
  );

  it(
    "removes escape sequences from texts of a pod",
    marbles(({ hot, clock, expectObservable }) => {
      const changes = " a---|";
      const expected = "(ha)|";

      const evil = pod("web", { phase: "Failed", reason: "\u001b[2Jx\ny" });
      const output$ = podTable({
        changes$: hot(changes, { a: [evil] }),
        problems$: of([]),
        clock,
        ...HEADER,
        terminal$: undefined,
      });
      expectObservable(output$).toBe(expected, {
        h: `${HEAD.join("\n")}\n`,
        a: line(0, "web                       0/1    ?[2Jx?y                     0 restarts   <none>"),
      });
    }),
  );
});

describe("podTable on a terminal", () => {
  const SIZES = { w: { columns: 100, rows: 30 }, n: { columns: 20, rows: 30 } };

  it(
    "redraws in place, ordered by namespace and name: on changes, and once a second because of the ages",
    marbles(({ hot, clock, at, flush }) => {
      const terminal = "w";
      const changes = " e 499ms b";

      const chunks: string[] = [];
      const screens: (readonly string[])[] = [];
      const options = {
        problems$: of([]),
        clock,
        ...HEADER,
        terminal$: hot(terminal, SIZES),
        changes$: hot(changes, CHANGES),
      };
      const subscription = podTable(options).subscribe((chunk) => chunks.push(chunk));
      for (const ms of [1, 501, 1001]) at(ms, () => screens.push(screenAfter(...chunks)));
      at(1500, () => subscription.unsubscribe());
      flush();
      const rows = (age: string, restarted: string) => [
        ...bannerLines(banner, "batch/job"),
        "",
        "NAME        READY   STATUS      RESTARTS     AGE   IP",
        `batch/job   0/1     Completed   0            ${age}    <none>`,
        `web         1/1     Running     1 (${restarted} ago)   ${age}    10.0.0.2`,
      ];
      expect(screens).toEqual([[...HEAD, "", "No pods yet."], rows("5s", "3s"), rows("6s", "4s")]);
    }),
  );

  it(
    "wraps the note and the paths of the banner on a narrow terminal, above the table",
    marbles(({ clock, at, flush }) => {
      const chunks: string[] = [];
      const note = () => "Stopping pods... waiting for web; Ctrl-C again to stop now";
      const terminal$ = of({ columns: 40, rows: 30 });
      const changes$ = concat(of([running]), NEVER);
      const options = { ...HEADER, problems$: of([]), clock, terminal$, changes$, note };
      const subscription = podTable(options).subscribe((chunk) => chunks.push(chunk));
      at(1, () => subscription.unsubscribe());
      flush();
      expect(screenAfter(...chunks)).toEqual([
        "Manifests  examples/first-pods  (edit,",
        "           add or remove files: pods",
        "           follow)",
        "Live view  http://127.0.0.1:10255/live/",
        "Logs       rxlet logs web -f",
        "Commands   get pods, exec, attach,",
        "           port-forward, explain, retry,",
        "           volumes, pressure: the same",
        "           way",
        "kubectl    export",
        "           KUBECONFIG=/run/kubeconfig",
        "API        http://127.0.0.1:10255/pods",
        "Metrics    http://127.0.0.1:10255/metric",
        "           s",
        "Log        /tmp/rxlet.log",
        "Ctrl-C     stops the pods and leaves",
        "           nothing behind",
        "",
        "Stopping pods... waiting for web; Ctrl-C",
        "again to stop now",
        "",
        "NAME READY STATUS  RESTARTS IP",
        "web  1/1   Running 1        10.0.0.2",
      ]);
    }),
  );

  it(
    "leaves half of a small terminal to the table, with a note in the other half",
    marbles(({ clock, at, flush }) => {
      const chunks: string[] = [];
      const terminal$ = of({ columns: 40, rows: 20 });
      const changes$ = concat(of([running]), NEVER);
      const many = Array.from({ length: 12 }, (_, index) => ({ ...TYPO, line: index }));
      const options = { ...HEADER, problems$: of(many), clock, terminal$, changes$, note: () => "Stopping pods..." };
      const subscription = podTable(options).subscribe((chunk) => chunks.push(chunk));
      at(1, () => subscription.unsubscribe());
      flush();
      expect(screenAfter(...chunks)).toEqual([
        "Manifests  examples/first-pods  (edit,",
        "           add or remove files: pods",
        "           follow)",
        "Live view  http://127.0.0.1:10255/live/",
        "Logs       rxlet logs web -f",
        "kubectl    export",
        "           KUBECONFIG=/run/kubeconfig",
        "",
        "Stopping pods...",
        "",
        "NAME READY STATUS  RESTARTS IP",
        "web  1/1   Running 1        10.0.0.2",
        "",
        "Problems",
        expect.stringContaining("typo.yaml:0"),
        expect.any(String),
        expect.any(String),
        expect.stringContaining("... and 11 more"),
      ]);
    }),
  );

  it(
    "draws at most every 100 ms, the newest state last",
    marbles(({ hot, clock, at, flush }) => {
      const changes = "eprbprb";

      const frames: string[] = [];
      const options = {
        problems$: of([]),
        clock,
        ...HEADER,
        terminal$: of(SIZES.w),
        changes$: hot(changes, CHANGES),
      };
      const subscription = podTable(options).subscribe((chunk) => frames.push(`${clock.monotonicMs()} ${chunk}`));
      at(500, () => subscription.unsubscribe());
      flush();
      expect([frames.map((frame) => frame.split(" ")[0]), frames.at(-1)?.includes("batch/job")]).toEqual([
        ["0", "100"],
        true,
      ]);
    }),
  );

  it(
    "redraws at the new width after a resize",
    marbles(({ hot, clock, at, flush }) => {
      const terminal = "w 299ms n";
      const changes = " j";

      const chunks: string[] = [];
      const options = {
        problems$: of([]),
        clock,
        ...HEADER,
        terminal$: hot(terminal, SIZES),
        changes$: hot(changes, CHANGES),
      };
      const subscription = podTable(options).subscribe((chunk) => chunks.push(chunk));
      at(500, () => subscription.unsubscribe());
      flush();
      expect(screenAfter(chunks.at(-1) ?? "").map((line) => line.length <= 20)).toEqual(
        Array(HEAD.length + 3).fill(true),
      );
    }),
  );

  it(
    "shows the problems of manifests under the table while there are any",
    marbles(({ hot, clock, at, flush }) => {
      const problems = "n 299ms t 299ms n";
      const changes = " e";

      const chunks: string[] = [];
      const screens: (readonly string[])[] = [];
      const problems$ = hot(problems, PROBLEMS);
      const options = { problems$, clock, ...HEADER, terminal$: of(SIZES.w), changes$: hot(changes, CHANGES) };
      const subscription = podTable(options).subscribe((chunk) => chunks.push(chunk));
      for (const ms of [200, 500, 800]) at(ms, () => screens.push(screenAfter(...chunks)));
      at(900, () => subscription.unsubscribe());
      flush();
      const table = [...HEAD, "", "No pods yet."];
      const problem = "  error    typo.yaml:9: spec.containers[0].image: Required value";
      expect(screens).toEqual([table, [...table, "", "Problems", problem], table]);
    }),
  );

  it(
    "draws nothing while nothing changed: no pods, no redraw",
    marbles(({ hot, clock, expectObservable }) => {
      const changes = " e";
      const unsub = "   5s !";
      const expected = "a";

      const options = { problems$: of([]), clock, ...HEADER, terminal$: of(SIZES.w), changes$: hot(changes, CHANGES) };
      expectObservable(podTable(options), unsub).toBe(expected, {
        a: [...HEAD, "", "No pods yet."]
          .map((line) => `${line}\u001b[K\n`)
          .join("")
          .concat("\u001b[J"),
      });
    }),
  );
});
