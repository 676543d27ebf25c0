import { firstValueFrom, of } from "rxjs";
import { expect, it } from "vitest";
import { configObjectsOf } from "../../../../src/core/configObjects.ts";
import { ok, type Result } from "../../../../src/core/result.ts";
import { MAX_VOLUME_BYTES } from "../../../../src/core/volume/volumeBudget.ts";
import { MAX_AUDIENCE_CHARS } from "../../../../src/core/volume/tokenBounds.ts";
import { type ContentSources, gatherContent } from "../../../../src/pipelines/volumes/volumeContent.ts";
import { podOf } from "../../../support/pods.ts";

const MEBIBYTE = 1024 * 1024;
const FITTING = MAX_VOLUME_BYTES / MEBIBYTE;

/** Gathers a volume with this many trust bundle projections of one mebibyte; returns its outcome and the reads. */
async function gather(count: number): Promise<{ readonly outcome: number | string; readonly reads: number }> {
  const text = "x".repeat(MEBIBYTE);
  let reads = 0;
  const sources: ContentSources = {
    objects: { follow: () => of(configObjectsOf([])), read: () => of(configObjectsOf([])) },
    tokens: undefined,
    trustBundles: {
      changes$: of(undefined),
      get: () => {
        reads += 1;
        return of<Result<string>>(ok(text));
      },
    },
    podCertificates: undefined,
    allocatable: {},
  };
  const projections = Array.from({ length: count }, (_, index) => ({
    clusterTrustBundle: { name: "b", path: `f${index}` },
  }));
  const content = await firstValueFrom(
    gatherContent(podOf({}), { name: "v", projected: { sources: projections } }, sources),
  );
  const payload = content.payload();
  return { outcome: payload.ok ? payload.value.size : payload.error.message, reads };
}

it("reads trust anchors up to the budget of a volume", async () => {
  expect(await gather(FITTING)).toEqual({ outcome: FITTING, reads: FITTING });
});

it("stops reading trust anchors beyond the budget, which is an error of the volume", async () => {
  expect(await gather(FITTING + 100)).toEqual({
    outcome: `volume "v": clusterTrustBundle: the files of a volume must be at most ${MAX_VOLUME_BYTES} bytes in all`,
    reads: FITTING + 1,
  });
});

it("requests no token of a volume with an audience beyond the bound", async () => {
  const sources: ContentSources = {
    objects: { follow: () => of(configObjectsOf([])), read: () => of(configObjectsOf([])) },
    tokens: {
      get: () => {
        throw new Error("requested");
      },
    } as unknown as NonNullable<ContentSources["tokens"]>,
    trustBundles: undefined,
    podCertificates: undefined,
    allocatable: {},
  };
  const audience = "x".repeat(MAX_AUDIENCE_CHARS + 1);
  const volume = { name: "v", projected: { sources: [{ serviceAccountToken: { audience, path: "t" } }] } };
  const content = await firstValueFrom(gatherContent(podOf({ spec: { volumes: [volume] } }), volume, sources));
  expect(content.payload()).toMatchObject({
    error: { message: expect.stringContaining("serviceAccountToken.audience: must be at most") as string },
  });
});
