/** Address ranges of pods for the runtime: those of the Node, or the configured one on a node without an API server. */
import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { podCidr } from "../../../../src/pipelines/node/podCidr.ts";
import type { KubeletPorts } from "../../../../src/ports/kubeletPorts.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

describe("podCidr", () => {
  const placed = (...podCIDRs: readonly string[]): Node => ({ spec: { podCIDRs: [...podCIDRs] } });

  /** Updates sent to the runtime, with their times; it refuses the first `failures`. */
  function world(
    { clock, cold }: Marbles,
    failures: number,
    code: "Unavailable" | "Unimplemented" = "Unavailable",
    configured?: string,
  ) {
    const accepted = "--(a|)";
    const rejected = "--#";

    const reported: string[] = [];
    const cell = createCell<Node | undefined>(undefined);
    const runtime = {
      updateRuntimeConfig: ({ runtimeConfig }: { runtimeConfig?: { networkConfig?: { podCidr: string } } }) => {
        reported.push(`${clock.monotonicMs()} ${runtimeConfig?.networkConfig?.podCidr}`);
        return reported.length > failures ? cold(accepted, { a: {} }) : cold(rejected, {}, kubeletError(code, "no"));
      },
    } as unknown as KubeletPorts["runtime"];
    const cluster = configured === undefined ? ({} as KubeletPorts["cluster"]) : undefined;
    const ports = { runtime, clock, rng: fixedRng(0.5), telemetry: recordingTelemetry(), cluster };
    const stream$ = podCidr(ports, { podCidr: configured ?? "192.0.2.0/24" }, cell);
    return { cell, reported, stream$ };
  }

  it(
    "sends the runtime both families in one text, and each change once",
    marbles((m) => {
      const unsub = "   100ms !";
      const expected = "";

      const { cell, reported, stream$ } = world(m, 0);
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(10, () => cell.set({}));
      m.at(20, () => cell.set(placed("10.1.0.0/24", "fd00::/64")));
      m.at(30, () => cell.set(placed("10.1.0.0/24", "fd00::/64")));
      m.at(40, () => cell.set(placed("10.2.0.0/24")));
      m.flush();
      expect(reported).toEqual(["20 10.1.0.0/24,fd00::/64", "40 10.2.0.0/24"]);
    }),
  );

  it(
    "retries after a doubling pause, with the newest ranges alone",
    marbles((m) => {
      const unsub = "   10s !";
      const expected = "";

      const { cell, reported, stream$ } = world(m, 3);
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(0, () => cell.set(placed("10.1.0.0/24")));
      m.at(2_000, () => cell.set(placed("10.2.0.0/24")));
      m.flush();
      expect(reported.map((line) => line.split(" ")[1])).toEqual([
        "10.1.0.0/24",
        "10.1.0.0/24",
        "10.2.0.0/24",
        "10.2.0.0/24",
      ]);
    }),
  );

  it(
    "sends them only once to a runtime without that call",
    marbles((m) => {
      const unsub = "   60s !";
      const expected = "";

      const { cell, reported, stream$ } = world(m, 9, "Unimplemented");
      m.expectObservable(stream$, unsub).toBe(expected);
      m.at(0, () => cell.set(placed("10.1.0.0/24")));
      m.flush();
      expect(reported).toEqual(["0 10.1.0.0/24"]);
    }),
  );

  it(
    "sends the configured range on a standalone node, until the runtime accepts it",
    marbles((m) => {
      const unsub = "   60s !";
      const expected = "1004ms |";

      const { reported, stream$ } = world(m, 1, "Unavailable", "10.3.0.0/24");
      m.expectObservable(stream$, unsub).toBe(expected);
      m.flush();
      expect(reported.map((line) => line.split(" ")[1])).toEqual(["10.3.0.0/24", "10.3.0.0/24"]);
    }),
  );

  it(
    "keeps the runtime's own ranges when none is configured",
    marbles((m) => {
      const unsub = "   60s !";
      const expected = "|";

      const { reported, stream$ } = world(m, 0, "Unavailable", "");
      m.expectObservable(stream$, unsub).toBe(expected);
      m.flush();
      expect(reported).toEqual([]);
    }),
  );
});
