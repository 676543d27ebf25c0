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
  /**
   * Returns the bytes in the layer of a container as last counted, without waiting; undefined for one that was not counted
   * yet. A count that is too old is renewed meanwhile.
   */
  of(id: string): bigint | undefined;
  /** Resolves with the bytes in all layers. */
  total(): Promise<bigint>;
}

const FRESH_MS = 60_000;

/** Creates it; nothing is asked before the first call. `nowMs` must be monotonic. */
export function createWritableSizes(docker: DockerCalls, nowMs: () => number): WritableSizes {
  let last: ReadonlyMap<string, bigint> = new Map();
  const count = kept(FRESH_MS, nowMs, async () => {
    const listed = await docker.list({ [LABEL.type]: CONTAINER }, { withSizes: true });
    last = new Map(listed.map(({ id, writableBytes }) => [id, writableBytes]));
    return last;
  });
  return {
    of: (id) => {
      // A count that fails is repeated by the next question.
      count().catch(() => undefined);
      return last.get(id);
    },
    total: async () => [...(await count()).values()].reduce((sum, size) => sum + size, 0n),
  };
}
