/** The VolumeFiles port in memory, on a file tree. Keeps nothing. */
import { type ErrorCode, kubeletError } from "../core/errors.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import type { VolumeFiles } from "../ports/volumeFiles.ts";
import { later } from "./simCall.ts";
import { normalized, parentOf, type SimTree } from "./simTree.ts";

export interface SimVolumeFilesOptions {
  readonly clock: Clock;
  readonly tree: SimTree;
  /** Of every operation, default 0: the scheduler's next action. */
  readonly latencyMs?: number;
  /** Asked before every operation; an error is its outcome. */
  fault?: ((operation: keyof VolumeFiles, dir: string) => ErrorCode | undefined) | undefined;
}

const DIRECTORY_MODE = 0o755;

/** Makes the port. */
export function createSimVolumeFiles({ clock, tree, latencyMs = 0, fault }: SimVolumeFilesOptions): VolumeFiles {
  const call = <T>(operation: keyof VolumeFiles, dir: string, effect: () => T): Call<T> =>
    later(clock, latencyMs, () => {
      const code = fault?.(operation, dir);
      if (code !== undefined) throw kubeletError(code, `cannot ${operation} ${dir}: injected fault`);
      if (!tree.nodes.has(tree.resolve(dir))) throw kubeletError("NotFound", `cannot ${operation} ${dir}: ENOENT`);
      return effect();
    });
  const below = (dir: string) => {
    const root = tree.resolve(dir);
    return [...tree.nodes].filter(([path]) => path === root || path.startsWith(`${root}/`));
  };
  return {
    writeAtomic: (dir, files) =>
      call("writeAtomic", dir, () => {
        const root = tree.resolve(dir);
        const wanted = new Map(
          [...files].map(([path, { content, mode }]) => [
            normalized(`${root}/${path}`),
            { content: new TextDecoder().decode(content), mode },
          ]),
        );
        const found = new Map(below(dir).flatMap(([path, node]) => (node.kind === "file" ? [[path, node]] : [])));
        const isSame =
          found.size === wanted.size &&
          [...wanted].every(([path, { content, mode }]) => {
            const node = found.get(path);
            return node?.content === content && node.mode === mode;
          });
        if (isSame) return "same";
        for (const path of found.keys()) if (!wanted.has(path)) tree.remove(path);
        for (const [path, { content, mode }] of wanted) {
          tree.makeDirectory(parentOf(path), DIRECTORY_MODE);
          tree.writeFile(path, content, mode);
        }
        return "changed";
      }),
    setOwnership: (dir) => call("setOwnership", dir, () => undefined),
    usage: (dir) =>
      call("usage", dir, () => {
        const nodes = below(dir);
        const sizes = nodes.map(([, node]) => (node.kind === "file" ? node.content.length : 0));
        return { bytes: BigInt(sizes.reduce((sum, size) => sum + size, 0)), inodes: BigInt(nodes.length) };
      }),
  };
}
