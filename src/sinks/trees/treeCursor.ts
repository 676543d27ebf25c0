/**
 * A position in a tree that others may write to, moved one name at a time. Each name is looked up in the open
 * directory, so that no swapped link leads outside; other mounts are not entered, even of the same file system.
 *
 *     root (open) -- closed -- closed -- open -- open -- current
 *
 * Bounds: only a few directories above the current one stay open; the others are reopened through `..` and must be
 * the same directories. Directories are read in batches. So neither depth nor width costs memory, except 16 bytes a
 * level up to MAX_CLOSED. Blocks its thread.
 */
import * as fs from "node:fs";
import { errnoOf } from "../../core/ioError.ts";
import { DIRECTORY, openedAt } from "../../fileSystem/insideDirectory.ts";
import { mountOf } from "../../fileSystem/mountOf.ts";

/** Names of one directory that are read ahead. */
const BATCH = 128;
/** Bound on the names that one `read` skips in a directory that is read again. */
const SKIPS = 64;
/** Levels remembered while they are closed. */
const MAX_CLOSED = 1 << 20;

/** A name in the current directory, as bytes or with one character per byte. */
export interface TreeEntry {
  readonly name: string | Buffer;
  isDirectory(): boolean;
}

/** `skipped`: names that were read before; call again. `end`: the directory has no more names. */
export type TreeRead = TreeEntry | "skipped" | "end";

/** `entered`, or the reason for not entering. */
export type TreeEntered = fs.Stats | "gone" | "mount";

/**
 * The way the cursor returned to the directory above. `reopened`: it had been closed. `lost`: it was moved away or
 * forgotten, and the cursor is at the root instead.
 */
export type TreeLeft = "back" | "reopened" | "lost";

/** An open directory, with names in the encoding it was opened with. */
interface Names {
  readSync(): TreeEntry | null;
  closeSync(): void;
}

interface Level {
  readonly fd: number;
  readonly ino: number;
  /** Name in the directory above; undefined when it was forgotten. */
  readonly name: string | Buffer | undefined;
  names: Names | undefined;
  encoding: "latin1" | "buffer";
  /** Names returned so far. */
  read: number;
  /** Number of these names still to skip, because the directory is being read again. */
  toSkip: number;
}

/** Creates a cursor at the root, a directory and not a link. Throws the errors of open(2). The caller closes it. */
export class TreeCursor {
  /** Bound on open directories beside the root, at least 1. */
  maxOpen: number;
  /** Identity of the root when it was opened. */
  readonly rootStats: fs.Stats;
  readonly #root: Level;
  readonly #mount: string;
  /** Open directories, the current one last. */
  readonly #open: Level[] = [];
  /** Closed directories between the root and the open ones. */
  readonly #closed: ClosedLevels = new ClosedLevels();

  constructor(path: string, maxOpen: number) {
    this.maxOpen = maxOpen;
    const fd = fs.openSync(path, DIRECTORY);
    try {
      this.#mount = mountOf(fd);
      this.rootStats = fs.fstatSync(fd);
      this.#root = levelOf(fd, this.rootStats.ino, undefined);
    } catch (thrown) {
      fs.closeSync(fd);
      throw thrown;
    }
  }

  get #current(): Level {
    return this.#open.at(-1) ?? this.#root;
  }

  get isAtRoot(): boolean {
    return this.#open.length === 0;
  }

  /** Returns a path to the current directory. */
  get place(): string {
    return openedAt(this.#current);
  }

  /** Returns the name of the current directory in its parent; undefined at the root, or when it was forgotten. */
  get name(): string | Buffer | undefined {
    return this.#current.name;
  }

  /** Returns a path to a name in the current directory, without following links except at that name. */
  pathTo(name: string | Buffer): string | Buffer {
    const inside = `${this.place}/`;
    if (typeof name !== "string") return Buffer.concat([Buffer.from(inside), name]);
    return ASCII.test(name) ? inside + name : Buffer.from(inside + name, "latin1");
  }

  /** Returns the next name in the current directory. */
  read(): TreeRead {
    const level = this.#current;
    if (level.toSkip > 0) {
      for (let count = 0; count < SKIPS && level.toSkip > 0; count += 1) {
        level.toSkip -= 1;
        if (nextName(level) === null) level.toSkip = 0;
      }
      return "skipped";
    }
    const entry = nextName(level);
    if (entry === null) return "end";
    if (entry === "skipped") return entry;
    level.read += 1;
    return entry;
  }

  /** Restarts reading the current directory. */
  readAgain(): void {
    const level = this.#current;
    closeNames(level);
    level.read = 0;
    level.toSkip = 0;
  }

  /** Moves to a subdirectory; a name that is no longer a directory counts as gone. */
  enter(name: string | Buffer): TreeEntered {
    const fd = openBelow(this.pathTo(name));
    if (fd === undefined) return "gone";
    try {
      const stats = fs.fstatSync(fd);
      if (mountOf(fd) !== this.#mount) {
        fs.closeSync(fd);
        return "mount";
      }
      this.#open.push(levelOf(fd, stats.ino, name));
      this.#closeUpper();
      return stats;
    } catch (thrown) {
      if (this.#current.fd !== fd) fs.closeSync(fd);
      throw thrown;
    }
  }

  /** Moves to the parent directory. Must not be called at the root. */
  leave(): TreeLeft {
    const left = this.#open.pop();
    if (left === undefined) return "lost";
    try {
      closeNames(left);
      if (this.#open.length > 0 || this.#closed.isNone) return "back";
      return this.#reopenAbove(left) ? "reopened" : "lost";
    } finally {
      fs.closeSync(left.fd);
    }
  }

  /** Closes all directories. */
  close(): void {
    for (const level of [this.#root, ...this.#open.splice(0)]) {
      closeNames(level);
      fs.closeSync(level.fd);
    }
    this.#closed.clear();
  }

  #closeUpper(): void {
    while (this.#open.length > Math.max(1, this.maxOpen)) {
      const upper = this.#open.shift();
      if (upper === undefined) return;
      this.#closed.push(upper.ino, upper.read);
      closeNames(upper);
      fs.closeSync(upper.fd);
    }
  }

  /** Returns whether the closed parent is now the current directory; otherwise forgets all closed directories. */
  #reopenAbove(below: Level): boolean {
    const known = this.#closed.pop();
    const fd = known === undefined ? undefined : openBelow(`${openedAt(below)}/..`);
    if (known === undefined || fd === undefined) {
      this.#closed.clear();
      return false;
    }
    if (fs.fstatSync(fd).ino !== known.ino || mountOf(fd) !== this.#mount) {
      fs.closeSync(fd);
      this.#closed.clear();
      return false;
    }
    this.#open.push({ ...levelOf(fd, known.ino, undefined), read: known.read, toSkip: known.read });
    return true;
  }
}

const ASCII = /^[\0-\x7f]*$/;

const levelOf = (fd: number, ino: number, name: string | Buffer | undefined): Level => ({
  ...{ fd, ino, name, names: undefined, encoding: "latin1", read: 0, toSkip: 0 },
});

function nextName(level: Level): TreeEntry | "skipped" | null {
  level.names ??= namesOf(level);
  try {
    return level.names.readSync();
  } catch (thrown) {
    // On file systems without file types in directory entries Node looks each name up, in UTF-8.
    if (level.encoding === "buffer" && errnoOf(thrown) !== "ENOENT") throw thrown;
    if (level.encoding === "latin1") {
      closeNames(level);
      level.encoding = "buffer";
      level.toSkip = level.read;
    }
    return "skipped";
  }
}

/** Node's types only allow file names as UTF-8 text. */
const namesOf = ({ fd, encoding }: Level): Names =>
  fs.opendirSync(openedAt({ fd }), { encoding: encoding as BufferEncoding, bufferSize: BATCH });

function closeNames(level: Level): void {
  level.names?.closeSync();
  level.names = undefined;
}

/** Opens a directory; returns undefined if it is gone or was replaced. */
function openBelow(path: string | Buffer): number | undefined {
  try {
    return fs.openSync(path, DIRECTORY);
  } catch (thrown) {
    if (isGone(thrown)) return undefined;
    throw thrown;
  }
}

/** Returns the file at a path without following links; undefined if it is gone. */
export function lookAt(path: string | Buffer): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    if (isGone(thrown)) return undefined;
    throw thrown;
  }
}

/** Returns whether a name that existed a moment ago is gone or refers to another file. */
const isGone = (thrown: unknown): boolean => ["ENOENT", "ENOTDIR", "ELOOP"].includes(errnoOf(thrown));

/** Remembers closed directories, the last one first. */
class ClosedLevels {
  #inodes: number[] = [];
  #reads: number[] = [];
  #hasForgotten = false;

  /** Returns whether the directory above is the root. */
  get isNone(): boolean {
    return this.#inodes.length === 0 && !this.#hasForgotten;
  }

  push(ino: number, read: number): void {
    if (this.#inodes.length === MAX_CLOSED) {
      this.clear();
      this.#hasForgotten = true;
    }
    this.#inodes.push(ino);
    this.#reads.push(read);
  }

  pop(): { readonly ino: number; readonly read: number } | undefined {
    const [ino, read] = [this.#inodes.pop(), this.#reads.pop()];
    return ino === undefined || read === undefined ? undefined : { ino, read };
  }

  clear(): void {
    this.#inodes = [];
    this.#reads = [];
    this.#hasForgotten = false;
  }
}
