import { map, NEVER, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import type { ApiListOptions, ApiServer } from "../../../src/ports/apiServer.ts";
import type { Followed } from "../../../src/ports/projections.ts";
import { createProjections } from "../../../src/sources/projectionSources.ts";
import { createPodKeys } from "../../../src/sinks/podKeys.ts";
import { fixedRng } from "../../support/fixedRng.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const AWAY = kubeletError("Unavailable", "connection refused");
const NOT_SERVED = kubeletError("NotFound", "the server could not find the requested resource");
const LINES = {
  a: { type: "ADDED", object: { metadata: { name: "a", resourceVersion: "1" } } },
  b: { type: "ADDED", object: { metadata: { name: "b", resourceVersion: "3" } } },
  e: {
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: "2", annotations: { "k8s.io/initial-events-end": "true" } } },
  },
};
const shown = (followed: Followed<unknown>): string =>
  followed === "not served" ? followed : `{${[...followed.keys()].join(" ")}}`;

/** Sources over these watches, one after the other; `#` is the error. */
function sources({ cold, clock }: Marbles, watches: readonly string[], error: unknown = AWAY) {
  const silence = "-";

  const asked: string[] = [];
  const api = {
    watch: (resource: string, { fieldSelector = "all" }: ApiListOptions) => {
      asked.push(`${clock.monotonicMs()} ${resource} ${fieldSelector}`);
      return cold(watches[asked.length - 1] ?? silence, LINES, error);
    },
    list: () => (error === NOT_SERVED ? throwError(() => error) : NEVER),
  } as unknown as ApiServer;
  const { log, lines } = recordingTelemetry();
  const gates = { trustBundles: true, podCertificates: true };
  const options = { api, clock, rng: fixedRng(), log, keys: createPodKeys(), nodeName: "n-1", gates };
  const { trustBundles$ = NEVER, podCertificates } = createProjections(options);
  return {
    options,
    asked,
    lines,
    bundles$: trustBundles$.pipe(map(shown)),
    requests$: (podCertificates?.requests$ ?? NEVER).pipe(map(shown)),
  };
}

describe("the sources of projected volumes", () => {
  it(
    "share one watch, whose last state a later subscriber receives at once",
    marbles((helpers) => {
      const watch = " ae--b";
      const first = " ^------!";
      const second = "---^---!";
      const early = " -x--y";
      const late = "  ---xy";

      const { bundles$, asked } = sources(helpers, [watch]);
      helpers.expectObservable(bundles$, first).toBe(early, { x: "{a}", y: "{a b}" });
      helpers.expectObservable(bundles$, second).toBe(late, { x: "{a}", y: "{a b}" });
      helpers.flush();
      expect(asked).toEqual(["0 clustertrustbundles all"]);
    }),
  );

  it(
    "ask again after the last subscriber has left",
    marbles((helpers) => {
      const watch = "   ae";
      const first = "   ^-!";
      const second = "  ----^-!";
      const expected = "-x";
      const again = "   -----x";

      const { bundles$, asked } = sources(helpers, [watch, watch]);
      helpers.expectObservable(bundles$, first).toBe(expected, { x: "{a}" });
      helpers.expectObservable(bundles$, second).toBe(again, { x: "{a}" });
      helpers.flush();
      expect(asked).toEqual(["0 clustertrustbundles all", "4 clustertrustbundles all"]);
    }),
  );

  it(
    "follow only the certificate requests of this node",
    marbles((helpers) => {
      const watch = "   ae";
      const unsub = "   --!";
      const expected = "-x";

      const { requests$, asked } = sources(helpers, [watch]);
      helpers.expectObservable(requests$, unsub).toBe(expected, { x: "{a}" });
      helpers.flush();
      expect(asked).toEqual(["0 podcertificaterequests spec.nodeName=n-1"]);
    }),
  );

  it(
    "emit nothing while the server is unreachable, and log one line for one reason",
    marbles((helpers) => {
      const failing = " #";
      const working = " ae";
      const unsub = "   3s !";
      const expected = "2401ms x";

      const { bundles$, asked, lines } = sources(helpers, [failing, failing, working]);
      helpers.expectObservable(bundles$, unsub).toBe(expected, { x: "{a}" });
      helpers.flush();
      expect(asked.length).toBe(3);
      expect(lines).toEqual([
        {
          level: "warn",
          message: "Cannot follow objects",
          fields: { resource: "clustertrustbundles", error: AWAY },
        },
      ]);
    }),
  );

  it(
    "tell that the server does not have the resource",
    marbles((helpers) => {
      const failing = " #";
      const unsub = "   --!";
      const expected = "x";

      const { bundles$ } = sources(helpers, [failing], NOT_SERVED);
      helpers.expectObservable(bundles$, unsub).toBe(expected, { x: "not served" });
    }),
  );

  it(
    "exist only behind their gates",
    marbles((helpers) => {
      const { options } = sources(helpers, []);
      const membersFor = (trustBundles: boolean, podCertificates: boolean) =>
        Object.keys(createProjections({ ...options, gates: { trustBundles, podCertificates } }));
      expect(membersFor(true, false)).toEqual(["trustBundles$"]);
      expect(membersFor(false, true)).toEqual(["podCertificates"]);
      expect(membersFor(false, false)).toEqual([]);
    }),
  );
});
