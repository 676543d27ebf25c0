/** The VolumeFiles port in memory, on a simulated file tree. Owns the counter that names generations of files. */
import { type ErrorCode, kubeletError } from "../../core/errors.ts";
import { ownershipChange, rootMismatches } from "../../core/mount/ownership.ts";
import {
  cleanPayload,
  DATA_LINK,
  generationPrefix,
  isGeneration,
  NEW_DATA_LINK,
  visibleNames,
} from "../../core/mount/payload.ts";
import { civilTime } from "../../core/time/civilTime.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { OwnershipResult, VolumeFile, VolumeFiles, VolumeOwnership } from "../../ports/volumeFiles.ts";
import { later } from "../runtime/simCall.ts";
import { inodesOfNode, parentOf, type SimNode, sizeOfFile } from "./simPaths.ts";
import type { SimTree } from "./simTree.ts";

export interface SimVolumeFilesOptions {
  readonly clock: Clock;
  readonly tree: SimTree;
  /** Latency of every operation; default 0, the scheduler's next action. */
  readonly latencyMs?: number;
  /** Called before every operation; an error is its outcome. */
  fault?: ((operation: keyof VolumeFiles, dir: string) => ErrorCode | undefined) | undefined;
  /** Returns whether the disk is full there; default: it never is. */
  isFull?(dir: string): boolean;
}

const DIRECTORY_MODE = 0o755;
/** Block size of a file system as du(1) counts it. */
const BLOCK_BYTES = 4096;

const textOf = (content: Uint8Array): string => new TextDecoder().decode(content);
const groupOf = (node: SimNode | undefined): number => (node !== undefined && "gid" in node ? (node.gid ?? 0) : 0);

/** Creates the port. */
export function createSimVolumeFiles(options: SimVolumeFilesOptions): VolumeFiles {
  const { clock, tree, latencyMs = 0, fault, isFull } = options;
  let generations = 0;
  const call = <T>(operation: keyof VolumeFiles, dir: string, effect: (root: string) => T): Call<T> =>
    later(clock, latencyMs, () => {
      const code = fault?.(operation, dir);
      if (code !== undefined) throw kubeletError(code, `cannot ${operation} ${dir}: injected fault`);
      const root = tree.resolve(dir);
      if (!tree.nodes.has(root)) throw kubeletError("NotFound", `cannot ${operation} ${dir}: ENOENT`);
      return effect(root);
    });
  const newGeneration = (): string => {
    generations += 1;
    return `${generationPrefix(civilTime(clock.wallTime()))}${String(generations).padStart(10, "0")}`;
  };
  return {
    writeAtomic: (dir, files, ownership) =>
      call("writeAtomic", dir, (root) => {
        const clean = cleanPayload(files);
        if (!clean.ok) throw clean.error;
        const old = generationIn(tree, root);
        if (old !== undefined && holds(tree, `${root}/${old}`, clean.value)) {
          return tidy(tree, dir, old, clean.value) ? "changed" : "same";
        }
        if (isFull?.(dir) === true) {
          throw kubeletError("ResourceExhausted", `cannot write files of ${dir}: no space left on device`);
        }
        replace(tree, dir, newGeneration(), clean.value, ownership);
        return "changed";
      }),
    setOwnership: (dir, ownership) => call("setOwnership", dir, (root) => giveAway(tree, root, ownership)),
    groupOf: (dir) => call("groupOf", dir, (root) => groupOf(tree.nodes.get(root))),
    usage: (dir) =>
      call("usage", dir, (root) => {
        const nodes = below(tree, root);
        const blocks = nodes.map(([, node]) =>
          node.kind === "file" ? Math.ceil(sizeOfFile(node) / BLOCK_BYTES) : Number(node.kind === "directory"),
        );
        const bytes = blocks.reduce((sum, count) => sum + count, 0) * BLOCK_BYTES;
        const inodes = nodes.reduce((sum, [, node]) => sum + inodesOfNode(node), 0);
        return { bytes: BigInt(bytes), inodes: BigInt(inodes) };
      }),
  };
}

const below = ({ nodes }: SimTree, root: string): readonly (readonly [string, SimNode])[] =>
  [...nodes].filter(([place]) => place === root || place.startsWith(`${root}/`));

/** Returns the current generation. */
function generationIn({ nodes }: SimTree, root: string): string | undefined {
  const link = nodes.get(`${root}/${DATA_LINK}`);
  return link?.kind === "symlink" && isGeneration(link.target) ? link.target : undefined;
}

function holds(tree: SimTree, directory: string, payload: ReadonlyMap<string, VolumeFile>): boolean {
  const found = below(tree, directory).filter(([, { kind }]) => kind !== "directory");
  const hasContent = ([path, { content }]: readonly [string, VolumeFile]): boolean => {
    const node = tree.nodes.get(`${directory}/${path}`);
    return node?.kind === "file" && node.content === textOf(content);
  };
  return found.length === payload.size && [...payload].every(hasContent);
}

function replace(
  tree: SimTree,
  dir: string,
  generation: string,
  payload: ReadonlyMap<string, VolumeFile>,
  ownership: VolumeOwnership | undefined,
): void {
  tree.makeDirectory(`${dir}/${generation}`, DIRECTORY_MODE);
  for (const [path, { content, mode }] of payload) {
    tree.makeDirectory(parentOf(`${dir}/${generation}/${path}`), DIRECTORY_MODE);
    tree.writeFile(`${dir}/${generation}/${path}`, textOf(content), mode);
  }
  if (ownership !== undefined) giveAway(tree, tree.resolve(dir), ownership);
  tree.symlink(generation, `${dir}/${DATA_LINK}`);
  tidy(tree, dir, generation, payload);
}

/** Creates the visible links of a generation and removes stale entries; returns whether anything changed. */
function tidy(tree: SimTree, dir: string, generation: string, payload: ReadonlyMap<string, VolumeFile>): boolean {
  const names = visibleNames(payload.keys());
  const missing = [...names].filter((name) => tree.at(`${dir}/${name}`) === undefined);
  for (const name of missing) tree.symlink(`${DATA_LINK}/${name}`, `${dir}/${name}`);
  const stale = tree.list(dir).filter((name) => {
    const node = tree.at(`${dir}/${name}`);
    const isDangling = node?.kind === "symlink" && node.target === `${DATA_LINK}/${name}` && !names.has(name);
    return isDangling || name === NEW_DATA_LINK || (isGeneration(name) && name !== generation);
  });
  for (const name of stale) tree.remove(`${dir}/${name}`);
  return missing.length + stale.length > 0;
}

function giveAway(
  tree: SimTree,
  root: string,
  { fsGroup, changePolicy, readOnly = false }: VolumeOwnership,
): OwnershipResult {
  const entryOf = (node: SimNode) => ({
    isDirectory: node.kind === "directory",
    mode: node.kind === "symlink" ? 0 : node.mode,
    gid: groupOf(node),
  });
  const top = tree.nodes.get(root);
  if (top !== undefined && changePolicy === "OnRootMismatch" && !rootMismatches(entryOf(top), fsGroup, readOnly)) {
    return { entries: 0, failures: 0 };
  }
  const all = below(tree, root);
  for (const [place, node] of all) {
    if (node.kind === "symlink") continue;
    const { mode = node.mode } = ownershipChange(entryOf(node), fsGroup, readOnly);
    tree.nodes.set(place, { ...node, mode: mode ?? node.mode, gid: fsGroup });
  }
  return { entries: all.length, failures: 0 };
}
