/** A manifest directory in memory that sends change hints after a delay. Owned by its creator. */
import { delay, type Observable, Subject } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ManifestDirectory } from "../../ports/manifestDirectory.ts";
import { later } from "../runtime/simCall.ts";

/** A manifest: its text, or an object that is encoded as JSON. */
export type SimManifest = string | object;

/** The port, and the functions that edit the directory. */
export interface SimManifests extends ManifestDirectory {
  /** Writes or replaces a file atomically. */
  put(name: string, manifest: SimManifest): void;
  /** Deletes a file; succeeds if it is missing. */
  drop(name: string): void;
  /** The names of all files, sorted. */
  names(): readonly string[];
}

export interface SimManifestsOptions {
  readonly clock: Clock;
  /** Absolute. */
  readonly path: string;
  /** Delay from a change to its hint. Default 5. */
  readonly noticeMs?: number;
}

/** Creates an empty directory. */
export function createSimManifests({ clock, path, noticeMs = 5 }: SimManifestsOptions): SimManifests {
  const files = new Map<string, { readonly bytes: Uint8Array; readonly version: string }>();
  const changes = new Subject<void>();
  const encoder = new TextEncoder();
  let versions = 0;
  const call = <T>(effect: () => T): Call<T> => later(clock, 0, effect);
  const names = (): readonly string[] => [...files.keys()].sort();
  const changes$: Observable<unknown> = changes.pipe(delay(noticeMs, clock.scheduler));
  return {
    changes$,
    list: () =>
      call(() => ({
        kind: "found",
        entries: names().map((name) => ({
          path: `${path}/${name}`,
          kind: "file",
          version: files.get(name)?.version ?? "",
        })),
      })),
    read: (file) =>
      call(() => {
        const found = files.get(file.slice(path.length + 1));
        if (found === undefined) throw kubeletError("NotFound", `cannot be read: ENOENT`);
        return found.bytes;
      }),
    put(name, manifest) {
      versions += 1;
      const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
      files.set(name, { bytes: encoder.encode(text), version: String(versions) });
      changes.next();
    },
    drop(name) {
      if (files.delete(name)) changes.next();
    },
    names,
  };
}
