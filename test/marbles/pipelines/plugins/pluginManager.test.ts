/** Registration of plugins: per-socket isolation, retries, replacement and removal of sockets. */
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { PluginListing, PluginSocket } from "../../../../src/core/plugins/pluginSockets.ts";
import type { PluginAnswer, RegisteredPlugins } from "../../../../src/core/plugins/registeredPlugins.ts";
import { type PluginHandlers, pluginEvents } from "../../../../src/pipelines/plugins/pluginHandlers.ts";
import { pluginManager } from "../../../../src/pipelines/plugins/pluginManager.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const gpu: PluginAnswer = {
  type: "DevicePlugin",
  name: "example.com/gpu",
  endpoint: "",
  supportedVersions: ["v1beta1"],
};
const accept: PluginHandlers = { DevicePlugin: { refusalOf: () => undefined } };
const socket = (name: string, identity = "1"): PluginSocket => ({ path: `/p/${name}`, identity });

type Answers = Readonly<Record<string, readonly (() => Observable<PluginAnswer>)[]>>;

/**
 * A node whose directory has the sockets of `listings` from their times on. Each attempt at a socket gets the next of its
 * answers, the last one for ever. The first `refusals` notifications fail. Events are `time kind name identity`, notifications `time path error`.
 */
function world(
  m: Marbles,
  listings: Readonly<Record<number, readonly PluginSocket[]>>,
  answers: Answers,
  handlers = accept,
  refusals = 0,
) {
  const changes = " h";
  const list = "    (l|)";
  const silence = " -";
  const notice = "  -(n|)";
  const unheard = " -#";
  const expected = "";

  const { clock, cold, hot, at } = m;
  const telemetry = recordingTelemetry();
  const cell = createCell<RegisteredPlugins>(new Map());
  const notified: string[] = [];
  const asked: string[] = [];
  const nowListed = (): PluginListing => {
    const [, sockets = []] = Object.entries(listings).findLast(([from]) => Number(from) <= clock.monotonicMs()) ?? [];
    return { sockets, unread: [] };
  };
  const plugins = {
    sockets: { changes$: hot(changes), list: () => cold(list, { l: nowListed() }) },
    registration: {
      getInfo: (path: string) => {
        asked.push(`${clock.monotonicMs()} ${path}`);
        const own = answers[path] ?? [];
        const nth = asked.filter((line) => line.endsWith(` ${path}`)).length - 1;
        const answer = own[Math.min(nth, own.length - 1)];
        return answer === undefined ? cold<PluginAnswer>(silence) : answer();
      },
      notify: (path: string, { error }: { readonly error: string }) => {
        notified.push(`${clock.monotonicMs()} ${path} ${error}`.trimEnd());
        if (notified.length > refusals) return cold(notice);
        return cold(unheard, {}, kubeletError("Unavailable", "not now"));
      },
    },
  };
  const events: string[] = [];
  const run = (unsubscribe: string): void => {
    m.expectObservable(pluginManager({ clock, rng: fixedRng(), telemetry, plugins }, handlers, cell), unsubscribe).toBe(
      expected,
    );
    at(0, () => {
      pluginEvents(cell, "DevicePlugin").subscribe({
        next: ({ kind, plugin }) =>
          events.push(`${clock.monotonicMs()} ${kind} ${plugin.name} ${plugin.socket.identity}`),
      });
    });
  };
  return { cell, events, notified, asked, telemetry, run };
}

describe("pluginManager", () => {
  it(
    "registers the plugin of an existing socket and tells it so",
    marbles((m) => {
      const unsub = "1s !";
      const info = " --(i|)";

      const { run, events, notified, telemetry } = world(
        m,
        { 0: [socket("a")] },
        { "/p/a": [() => m.cold(info, { i: gpu })] },
      );
      run(unsub);
      m.flush();
      expect(events).toEqual(["2 registered example.com/gpu 1"]);
      expect(notified).toEqual(["2 /p/a"]);
      expect([...telemetry.samples]).toEqual([
        ['plugin_manager_total_plugins{socket_path="/p/a",state="desired_state_of_world"}', 1],
        ['plugin_manager_total_plugins{socket_path="/p/a",state="actual_state_of_world"}', 1],
      ]);
    }),
  );

  it(
    "repeats the notification of a registered plugin until it succeeds, and keeps the plugin registered meanwhile",
    marbles((m) => {
      const unsub = "20s !";
      const info = " --(i|)";

      const { run, events, notified, asked } = world(
        m,
        { 0: [socket("a")] },
        { "/p/a": [() => m.cold(info, { i: gpu })] },
        accept,
        3,
      );
      run(unsub);
      m.flush();
      expect(events).toEqual(["2 registered example.com/gpu 1"]);
      expect(asked).toEqual(["0 /p/a"]);
      expect(notified).toEqual(["2 /p/a", "503 /p/a", "1504 /p/a", "3505 /p/a"]);
    }),
  );

  it(
    "registers the plugins beside one that hangs for ever and one that refuses connections",
    marbles((m) => {
      const unsub = "  10s !";
      const refusal = "-#";
      const info = "   --(i|)";

      const refused = () => m.cold<PluginAnswer>(refusal, {}, kubeletError("Unavailable", "refused"));
      const { run, events, asked } = world(
        m,
        { 0: [socket("hangs"), socket("refuses"), socket("works")] },
        { "/p/refuses": [refused], "/p/works": [() => m.cold(info, { i: gpu })] },
      );
      run(unsub);
      m.flush();
      expect(events).toEqual(["2 registered example.com/gpu 1"]);
      expect(asked.filter((line) => line.endsWith("hangs"))).toEqual(["0 /p/hangs"]);
      const retries = asked.filter((line) => line.endsWith("refuses")).map((line) => Number(line.split(" ")[0]));
      expect(retries).toEqual([0, 501, 1502, 3503, 7504]);
    }),
  );

  it(
    "repeats a registration that failed, and forgets the failures once the socket is replaced",
    marbles((m) => {
      const unsub = "  20s !";
      const refusal = "#";
      const info = "   (i|)";

      const refused = () => m.cold<PluginAnswer>(refusal, {}, kubeletError("Unavailable", "refused"));
      const { run, events, asked } = world(
        m,
        { 0: [socket("a", "1")], 8_000: [socket("a", "2")] },
        { "/p/a": [refused, refused, refused, refused, refused, () => m.cold(info, { i: gpu })] },
      );
      run(unsub);
      m.flush();
      expect(asked.map((line) => Number(line.split(" ")[0]))).toEqual([0, 500, 1500, 3500, 7500, 10_000]);
      expect(events).toEqual(["10000 registered example.com/gpu 2"]);
    }),
  );

  it(
    "deregisters a plugin whose socket is replaced, then registers the new one; and one whose socket is gone",
    marbles((m) => {
      const unsub = "30s !";
      const info = " --(i|)";

      const { run, events, telemetry } = world(
        m,
        { 0: [socket("a", "1")], 5_000: [socket("a", "2")], 15_000: [] },
        { "/p/a": [() => m.cold(info, { i: gpu })] },
      );
      run(unsub);
      m.flush();
      expect(events).toEqual([
        "2 registered example.com/gpu 1",
        "10000 deregistered example.com/gpu 1",
        "10002 registered example.com/gpu 2",
        "20000 deregistered example.com/gpu 2",
      ]);
      expect([...telemetry.samples]).toEqual([]);
    }),
  );

  it(
    "tells a plugin why it is refused: its type, its versions, the failure of its admission",
    marbles((m) => {
      const unsub = "300ms !";
      const info = " (i|)";
      const admit = "-";

      const { run, events, notified } = world(
        m,
        { 0: [socket("csi"), socket("old"), socket("slow")] },
        {
          "/p/csi": [() => m.cold(info, { i: { ...gpu, type: "CSIPlugin" } })],
          "/p/old": [() => m.cold(info, { i: { ...gpu, supportedVersions: ["v1"] } })],
          "/p/slow": [() => m.cold(info, { i: gpu })],
        },
        {
          DevicePlugin: {
            refusalOf: ({ versions }) => (versions.includes("v1beta1") ? undefined : "unsupported version"),
            admit: () => m.cold(admit),
          },
        },
      );
      run(unsub);
      m.flush();
      expect(events).toEqual([]);
      expect(notified).toEqual([
        "0 /p/csi RegisterPlugin error -- no handler registered for plugin type: CSIPlugin at socket /p/csi",
        "0 /p/old RegisterPlugin error -- plugin validation failed with err: unsupported version",
      ]);
    }),
  );

  it(
    "refuses a plugin whose admission does not end in time",
    marbles((m) => {
      const unsub = "30100ms !";
      const info = " (i|)";
      const admit = "-";

      const { run, events, notified } = world(
        m,
        { 0: [socket("a")] },
        { "/p/a": [() => m.cold(info, { i: gpu })] },
        { DevicePlugin: { refusalOf: () => undefined, admit: () => m.cold(admit) } },
      );
      run(unsub);
      m.flush();
      expect(events).toEqual([]);
      expect(notified).toEqual([
        "30000 /p/a RegisterPlugin error -- plugin registration failed with err: no end within 30000 ms",
      ]);
    }),
  );

  it(
    "logs once how many sockets it ignores, and again when their number changes",
    marbles((m) => {
      const unsub = "25s !";

      const sockets = (count: number) => Array.from({ length: count }, (_, index) => socket(`s${index}`));
      const { run, telemetry } = world(m, { 0: sockets(257), 15_000: sockets(258) }, {});
      run(unsub);
      m.flush();
      const errors = telemetry.lines.filter(({ level }) => level === "error");
      expect(errors.map(({ message, fields }) => [message, fields["ignored"]])).toEqual([
        ["Too many sockets of plugins: some are ignored", 1],
        ["Too many sockets of plugins: some are ignored", 2],
      ]);
    }),
  );
});
