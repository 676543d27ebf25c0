import { EMPTY, NEVER, type Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import type { ReloadSetup, Restart } from "../../../src/commands/reloadService.ts";
import { runService, type ServiceOutput, type ServiceSetup } from "../../../src/commands/runService.ts";
import { kubeletError } from "../../../src/core/errors.ts";
import { longTimer } from "../../../src/operators/longTimer.ts";
import type { HealthCheck } from "../../../src/ports/kubeletQueries.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const HEALTHY: readonly HealthCheck[] = ["ping", "syncloop"].map((name) => ({ name, problem: undefined }));
const SICK: readonly HealthCheck[] = [...HEALTHY, { name: "device-plugin", problem: "no socket" }];
const AT = { address: "127.0.0.1", port: 1 };
const READY_STATUS = "STATUS=1 pod; container runtime ready";

/** A node under test, the letters of its outputs, and a manager that keeps what it gets. */
function service({ clock }: Pick<Marbles, "clock">, more: Partial<ServiceSetup> = {}) {
  const telemetry = recordingTelemetry();
  const facts = { health: HEALTHY, runtimeProblems: [] as readonly string[], pods: 1 };
  const queries = {
    pods: () => new Array<never>(facts.pods),
    runtimeProblems: () => facts.runtimeProblems,
    health: () => facts.health,
  };
  const sent: string[] = [];
  /** Answer of the manager to each message; by default it takes it at once. */
  const manager = { answer: (): Observable<void> => of(undefined) };
  const setup: ServiceSetup = {
    manager: {
      notify: (assignments) => {
        sent.push(`${clock.monotonicMs()} ${assignments.join(" ")}`);
        return manager.answer();
      },
    },
    watchdogPeriodMs: undefined,
    servers: ["healthz"],
    reload: NO_RELOAD,
    clock,
    log: telemetry.log,
    ...more,
  };
  const outputs: Readonly<Record<string, ServiceOutput>> = {
    k: { kind: "started", kubelet: { queries } },
    h: { kind: "listening", server: "healthz", at: AT },
    s: { kind: "listening", server: "https", at: AT },
    o: { kind: "off", server: "https" },
  };
  return { setup, facts, sent, manager, outputs, telemetry };
}

/** A time of CLOCK_MONOTONIC. */
const MICROS = 7_000_000n;
const NO_RELOAD: ReloadSetup = {
  hangup$: NEVER,
  faults: () => of([]),
  monotonicMicros: () => MICROS,
  successor: "inPlace",
};

const RESTART: Restart = { kind: "restart", successor: "inPlace" };

const refused = (): Observable<never> => throwError(() => kubeletError("Io", "refused"));

describe("runService", () => {
  it(
    "reports the end of the start once the kubelet runs and all of its servers listen or stay off",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const node = "    --k-h-o---";
      const unsub = "   ---------!";
      const expected = "--k-h-o---";

      const { setup, outputs, sent } = service({ clock }, { servers: ["healthz", "https"] });
      expectObservable(runService(hot(node, outputs), NEVER, setup), unsub).toBe(expected, outputs);
      flush();
      expect(sent).toEqual([`6 READY=1 ${READY_STATUS}`]);
    }),
  );

  it(
    "reports it when the kubelet has no server to wait for",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const node = "    --k---";
      const unsub = "   -----!";
      const expected = "--k---";

      const { setup, outputs, sent } = service({ clock }, { servers: [] });
      expectObservable(runService(hot(node, outputs), NEVER, setup), unsub).toBe(expected, outputs);
      flush();
      expect(sent).toEqual([`2 READY=1 ${READY_STATUS}`]);
    }),
  );

  it(
    "waits ten seconds for a server without a certificate",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const node = "    --k-h---";
      const unsub = "   10003ms !";
      const expected = "--k-h---";

      const { setup, outputs, sent } = service({ clock }, { servers: ["healthz", "https"] });
      expectObservable(runService(hot(node, outputs), NEVER, setup), unsub).toBe(expected, outputs);
      flush();
      expect(sent).toEqual([`10000 EXTEND_TIMEOUT_USEC=30000000 STATUS=Starting`, `10002 READY=1 ${READY_STATUS}`]);
    }),
  );

  it(
    "asks for more time every ten seconds of a start, for a quarter of an hour",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const node = "    -";
      const unsub = "   60m !";
      const expected = "-";

      const { setup, outputs, sent } = service({ clock });
      expectObservable(runService(hot(node, outputs), NEVER, setup), unsub).toBe(expected);
      flush();
      const times = sent.map((message) => Number(message.split(" ")[0]));
      expect([times.slice(0, 3), times.at(-1)]).toEqual([[10_000, 20_000, 30_000], 890_000]);
    }),
  );

  it(
    "feeds the watchdog in each period, also during the start",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const node = "    -----k----";
      const unsub = "   ---------------!";
      const expected = "-----k----";

      const { setup, outputs, sent } = service({ clock }, { servers: [], watchdogPeriodMs: 4 });
      expectObservable(runService(hot(node, outputs), NEVER, setup), unsub).toBe(expected, outputs);
      flush();
      expect(sent).toEqual([
        "4 EXTEND_TIMEOUT_USEC=30000000 STATUS=Starting WATCHDOG=1",
        `5 READY=1 WATCHDOG=1 ${READY_STATUS}`,
        "9 WATCHDOG=1",
        "13 WATCHDOG=1",
      ]);
    }),
  );

  it(
    "stops feeding while a health check fails, says so in each period, and feeds again when it passes",
    marbles(({ hot, clock, at, expectObservable, flush }) => {
      const node = "    k--------";
      const unsub = "   24ms !";
      const expected = "k--------";

      const { setup, outputs, sent, facts, telemetry } = service({ clock }, { servers: [], watchdogPeriodMs: 5 });
      at(6, () => (facts.health = SICK));
      at(18, () => (facts.health = HEALTHY));
      expectObservable(runService(hot(node, outputs), NEVER, setup), unsub).toBe(expected, outputs);
      flush();
      expect(sent).toEqual([`0 READY=1 WATCHDOG=1 ${READY_STATUS}`, "5 WATCHDOG=1", "20 WATCHDOG=1"]);
      const line = {
        level: "error",
        message: "The systemd watchdog is not fed: the node is not healthy",
        fields: { problems: { "device-plugin": "no socket" } },
      };
      expect(telemetry.lines).toEqual([line, line]);
    }),
  );

  it(
    "feeds a second time, a second after a failure, and logs the first failure and the first success alone",
    marbles(({ hot, clock, at, expectObservable, flush }) => {
      const node = "    k--------";
      const unsub = "   13500ms !";
      const expected = "k--------";

      const { setup, outputs, sent, manager, telemetry } = service({ clock }, { servers: [], watchdogPeriodMs: 3_000 });
      at(1, () => (manager.answer = refused));
      at(10_500, () => (manager.answer = () => of(undefined)));
      expectObservable(runService(hot(node, outputs), NEVER, setup), unsub).toBe(expected, outputs);
      flush();
      expect(sent.slice(1)).toEqual([3_000, 4_000, 7_000, 8_000, 11_000].map((ms) => `${ms} WATCHDOG=1`));
      expect(telemetry.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
        "warn Cannot notify systemd",
        "info systemd is notified again",
      ]);
    }),
  );

  it(
    "repeats the end of the start every ten seconds until it is sent",
    marbles(({ hot, clock, at, expectObservable, flush }) => {
      const node = "    k--------";
      const unsub = "   29s !";
      const expected = "k--------";

      const { setup, outputs, sent, manager } = service({ clock }, { servers: [] });
      manager.answer = refused;
      at(15_000, () => (manager.answer = () => of(undefined)));
      expectObservable(runService(hot(node, outputs), NEVER, setup), unsub).toBe(expected, outputs);
      flush();
      expect(sent).toEqual([0, 10_000, 20_000].map((ms) => `${ms} READY=1 ${READY_STATUS}`));
    }),
  );

  it(
    "reports a changed status at most every half minute, and repeats one that could not be sent",
    marbles(({ hot, clock, at, expectObservable, flush }) => {
      const node = "    k--------";
      const unsub = "   200s !";
      const expected = "k--------";

      const { setup, outputs, sent, facts, manager } = service({ clock }, { servers: [] });
      at(31_000, () => (facts.pods = 2));
      at(32_000, () => (facts.runtimeProblems = ["container runtime is down"]));
      at(61_000, () => {
        facts.runtimeProblems = [];
        facts.health = SICK;
        manager.answer = refused;
      });
      at(91_000, () => (manager.answer = () => of(undefined)));
      expectObservable(runService(hot(node, outputs), NEVER, setup), unsub).toBe(expected, outputs);
      flush();
      const sick = "STATUS=2 pods; unhealthy: device-plugin; container runtime ready";
      expect(sent).toEqual([
        `0 READY=1 ${READY_STATUS}`,
        "60000 STATUS=2 pods; container runtime is down",
        `90000 ${sick}`,
        `120000 ${sick}`,
      ]);
    }),
  );

  it(
    "reports the stop before the node ends, and completes after the message",
    marbles(({ hot, clock, expectObservable, expectSubscriptions, flush }) => {
      const node = "    k--------";
      const subs = "    ^--!     ";
      const stop = "    ---x-x---";
      const expected = "k----|   ";

      const { setup, outputs, sent, manager } = service({ clock }, { servers: [] });
      const source = hot(node, outputs);
      const order: string[] = [];
      manager.answer = () => {
        order.push(source.subscriptions[0]?.unsubscribedFrame === Infinity ? "node runs" : "node ended");
        return clock.monotonicMs() < 3 ? of(undefined) : (longTimer(clock, 2) as Observable<never>);
      };
      expectObservable(runService(source, hot(stop), setup)).toBe(expected, outputs);
      expectSubscriptions(source).toBe(subs);
      flush();
      expect([sent, order]).toEqual([
        [`0 READY=1 ${READY_STATUS}`, "3 STOPPING=1 STATUS=Stopping"],
        ["node runs", "node runs"],
      ]);
    }),
  );

  it.each<[string, () => Observable<never>]>([
    ["is not taken within a second", () => NEVER],
    ["is refused", () => refused()],
  ])("ends also when the message of the stop %s", (title, answer) =>
    marbles(({ hot, clock, expectObservable, flush }) => {
      const node = "     k--------";
      const stop = "     ---x-----";
      const inTime = "   k--|";
      const expected = title === "is refused" ? inTime : "k-- 1s |";

      const { setup, outputs, manager, telemetry } = service({ clock }, { servers: [] });
      expectObservable(runService(hot(node, outputs), hot(stop), setup)).toBe(expected, outputs);
      manager.answer = () => (clock.monotonicMs() < 3 ? EMPTY : answer());
      flush();
      expect(telemetry.lines.map(({ message }) => message)).toEqual(["Cannot notify systemd"]);
    })(),
  );

  it(
    "ends with a node that ends by itself",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const node = "    --k-h--|";
      const expected = "--k-h--|";

      const { setup, outputs, sent } = service({ clock }, { watchdogPeriodMs: 100 });
      expectObservable(runService(hot(node, outputs), NEVER, setup)).toBe(expected, outputs);
      flush();
      expect(sent).toEqual([`4 READY=1 WATCHDOG=1 ${READY_STATUS}`]);
    }),
  );

  it(
    "sends nothing more after the node has failed",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const node = "    k---#";
      const expected = "k---#";

      const { setup, outputs, sent } = service({ clock }, { servers: [], watchdogPeriodMs: 3 });
      expectObservable(runService(hot(node, outputs), NEVER, setup)).toBe(expected, outputs);
      flush();
      expect(sent).toEqual([`0 READY=1 WATCHDOG=1 ${READY_STATUS}`, "3 WATCHDOG=1"]);
    }),
  );

  it(
    "restarts at a reload with a configuration that holds, once",
    marbles(({ hot, cold, clock, expectObservable, flush }) => {
      const node = "    k---------";
      const hangup = "  --h-h-----";
      const faults = "  ---(v|)";
      const expected = "k----(r|)";

      const reload = { ...NO_RELOAD, hangup$: hot(hangup), faults: () => cold<readonly string[]>(faults, { v: [] }) };
      const { setup, outputs, sent } = service({ clock }, { servers: [], reload });
      expectObservable(runService(hot(node, outputs), NEVER, setup)).toBe(expected, { ...outputs, r: RESTART });
      flush();
      expect(sent).toEqual([
        `0 READY=1 ${READY_STATUS}`,
        `2 RELOADING=1 MONOTONIC_USEC=${MICROS} STATUS=Reading the configuration`,
      ]);
    }),
  );

  it(
    "reports a stop to the manager that starts the next process",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const node = "    k-----";
      const hangup = "  --h---";
      const expected = "k-(r|)";

      const reload: ReloadSetup = { ...NO_RELOAD, hangup$: hot(hangup), successor: "manager" };
      const { setup, outputs, sent } = service({ clock }, { servers: [], reload });
      const restart = { ...RESTART, successor: "manager" };
      expectObservable(runService(hot(node, outputs), NEVER, setup)).toBe(expected, { ...outputs, r: restart });
      flush();
      expect(sent.at(-1)).toBe("2 READY=1 STOPPING=1 STATUS=Restarting");
    }),
  );

  it(
    "goes on after a reload with a configuration that is refused, and takes the next one",
    marbles(({ hot, cold, clock, expectObservable, flush }) => {
      const node = "    k------------";
      const hangup = "  --h-----h---h";
      const first = "   -(f|)";
      const second = "  #";
      const third = "   (v|)";
      const expected = "k-----------(r|)";

      const answers = [
        cold<readonly string[]>(first, { f: ["kubelet.yaml: maxPods: must be positive", "another"] }),
        cold<readonly string[]>(second, undefined, kubeletError("Io", "cannot read the machine")),
        cold<readonly string[]>(third, { v: [] }),
      ];
      const reload = { ...NO_RELOAD, hangup$: hot(hangup), faults: () => answers.shift() ?? EMPTY };
      const { setup, outputs, sent, telemetry } = service({ clock }, { servers: [], reload });
      expectObservable(runService(hot(node, outputs), NEVER, setup)).toBe(expected, { ...outputs, r: RESTART });
      flush();
      const old = "Configuration refused";
      expect(sent.filter((message) => message.includes(old))).toEqual([
        `3 READY=1 STATUS=${old} (and 1 more), the old one holds: kubelet.yaml: maxPods: must be positive`,
        `8 READY=1 STATUS=${old}, the old one holds: cannot read the machine`,
      ]);
      const refusals = telemetry.lines.filter(({ level }) => level === "error");
      expect(refusals.map(({ fields }) => fields["fault"])).toEqual([
        "kubelet.yaml: maxPods: must be positive",
        "another",
        "cannot read the machine",
      ]);
    }),
  );

  it(
    "cancels a reload when it is stopped",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions, flush }) => {
      const node = "    k-------";
      const hangup = "  --h-----";
      const stop = "    -----x--";
      const faults = "  --------";
      const reading = " --^--!";
      const expected = "k----|";

      const faults$ = cold<readonly string[]>(faults);
      const reload = { ...NO_RELOAD, hangup$: hot(hangup), faults: () => faults$ };
      const { setup, outputs, sent } = service({ clock }, { servers: [], reload });
      expectObservable(runService(hot(node, outputs), hot(stop), setup)).toBe(expected, outputs);
      expectSubscriptions(faults$).toBe(reading);
      flush();
      expect(sent.at(-1)).toBe("5 STOPPING=1 STATUS=Stopping");
    }),
  );

  it(
    "drops the message of the start that is being sent when the start ends",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions, flush }) => {
      const node = "    ----k---";
      const unsub = "   -------!";
      const expected = "----k---";
      const answer = "  --------";
      const dropped = " --^-!   ";

      const { setup, outputs, manager } = service({ clock }, { servers: [], watchdogPeriodMs: 2 });
      const slow = cold<void>(answer);
      manager.answer = () => (clock.monotonicMs() < 4 ? slow : of(undefined));
      expectObservable(runService(hot(node, outputs), NEVER, setup), unsub).toBe(expected, outputs);
      expectSubscriptions(slow).toBe(dropped);
      flush();
    }),
  );
});
