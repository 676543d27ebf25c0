/**
 * Sizes of the writable layers of containers, which Docker counts file by file: asked for at most once in
 * `FRESH_MS`, and once at a time. Bound: the containers of the last answer.
 * Upstream: containerStatsCache of cri-dockerd.
 */
import type { DockerCalls } from "./dockerCalls.ts";
import { kept } from "./kept.ts";
import { CONTAINER, LABEL } from "./mapping/names.ts";

/** See the file header. */
export interface WritableSizes {
  /** Bytes in the layer of a container, a minute old at most; undefined for one that is newer. */
  of(id: string): Promise<bigint | undefined>;
  /** Bytes in all layers. */
  total(): Promise<bigint>;
}

const FRESH_MS = 60_000;

/** Creates it; nothing is asked before the first call. `nowMs` must be monotonic. */
export function createWritableSizes(docker: DockerCalls, nowMs: () => number): WritableSizes {
  const sizes = kept(FRESH_MS, nowMs, async () => {
    const listed = await docker.list({ [LABEL.type]: CONTAINER }, true);
    return new Map(listed.map(({ id, writableBytes }) => [id, writableBytes]));
  });
  return {
    of: async (id) => (await sizes()).get(id),
    total: async () => [...(await sizes()).values()].reduce((sum, size) => sum + size, 0n),
  };
}
