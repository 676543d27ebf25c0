/** Trust anchors of volumes: when they are known, when nobody serves them, when nobody answers. */
import { describe, it } from "vitest";
import { BUNDLES_NOT_SYNCED, NO_TRUST_BUNDLES, type TrustBundle } from "../../../../src/core/cert/trustAnchors.ts";
import { ok } from "../../../../src/core/result.ts";
import { createTrustBundles } from "../../../../src/pipelines/projections/trustBundles.ts";
import type { Followed } from "../../../../src/ports/projections.ts";
import { marbles } from "../../../support/marbles.ts";

const WISH = { name: "missing", optional: true };
const EMPTY: ReadonlyMap<string, TrustBundle> = new Map();

describe("createTrustBundles", () => {
  it(
    "answers with the first state, and with an error where bundles are not served",
    marbles(({ cold, clock, expectObservable }) => {
      const bundles = " --e-n";
      const unserved = "-n-e";
      const anchors = " --(a|)";
      const refusal = " -(r|)";

      const readerOf = (diagram: string) =>
        createTrustBundles(cold<Followed<TrustBundle>>(diagram, { e: EMPTY, n: "not served" }), clock);
      expectObservable(readerOf(bundles).get(WISH)).toBe(anchors, { a: ok("") });
      expectObservable(readerOf(unserved).get(WISH)).toBe(refusal, { r: NO_TRUST_BUNDLES });
    }),
  );

  it(
    "waits a second for the first state",
    marbles(({ cold, clock, expectObservable }) => {
      const silence = " -";
      const expected = "1s (l|)";

      const reader = createTrustBundles(cold<Followed<TrustBundle>>(silence), clock);
      expectObservable(reader.get(WISH)).toBe(expected, { l: BUNDLES_NOT_SYNCED });
    }),
  );

  it(
    "tells of changes only",
    marbles(({ cold, clock, expectObservable }) => {
      const bundles = " e-e-n|";
      const expected = "e---n|";

      const values = { e: EMPTY, n: "not served" as const };
      const reader = createTrustBundles(cold<Followed<TrustBundle>>(bundles, values), clock);
      expectObservable(reader.changes$).toBe(expected, values);
    }),
  );
});
