/** A manifest directory in memory whose hints a marble test gives by hand. Its maker owns it. */
import { defer, NEVER, type Observable, of, Subject, throwError } from "rxjs";
import { kubeletError } from "../../src/core/errors.ts";
import type { ManifestEntry, ManifestListing } from "../../src/core/pod/manifest/manifestFiles.ts";
import type { Call } from "../../src/ports/call.ts";
import type { ManifestDirectory } from "../../src/ports/manifestDirectory.ts";
import { bytesOf } from "./manifests.ts";

export interface VirtualManifests extends ManifestDirectory {
  /** Writes a file and gives a hint by default. */
  write(
    name: string,
    content: string | Uint8Array,
    options?: { readonly hint?: boolean; readonly version?: string },
  ): void;
  remove(name: string): void;
  /** Puts something that is no file there. */
  place(name: string, kind: ManifestEntry["kind"]): void;
  /** Makes reading a file fail; undefined ends that. */
  failRead(name: string, reason: string | undefined): void;
  /** Makes listing answer something else; undefined ends that. */
  list$(answer: Observable<ManifestListing> | undefined): void;
  hint(): void;
  /** Breaks the watch. */
  loseWatch(reason: string): void;
  /** Times the place was listed, files read, and the watch opened. */
  readonly counts: { lists: number; reads: number; watches: number };
}

/** Makes an empty directory /m. */
export function virtualManifests(): VirtualManifests {
  const files = new Map<
    string,
    { readonly bytes: Uint8Array; readonly version: string; readonly kind: ManifestEntry["kind"] }
  >();
  const failures = new Map<string, string>();
  const counts = { lists: 0, reads: 0, watches: 0 };
  let hints = new Subject<void>();
  let answer: Observable<ManifestListing> | undefined;
  let versions = 0;
  const listed = (): ManifestListing => ({
    kind: "found",
    entries: [...files]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { version, kind }]) => ({ path: `/m/${name}`, version, kind })),
  });
  return {
    counts,
    changes$: defer(() => {
      counts.watches += 1;
      return hints;
    }),
    list: () =>
      defer(() => {
        counts.lists += 1;
        return answer ?? of(listed());
      }),
    read: (path): Call<Uint8Array> =>
      defer(() => {
        counts.reads += 1;
        const name = path.slice("/m/".length);
        const failure = failures.get(name);
        if (failure === "hangs") return NEVER;
        if (failure !== undefined) return throwError(() => kubeletError("Io", failure));
        const file = files.get(name);
        return file === undefined ? throwError(() => kubeletError("NotFound", "gone")) : of(file.bytes);
      }),
    write(name, content, { hint = true, version } = {}) {
      versions += 1;
      const bytes = typeof content === "string" ? bytesOf(content) : content;
      files.set(name, { bytes, version: version ?? String(versions), kind: "file" });
      if (hint) hints.next();
    },
    remove(name) {
      files.delete(name);
      hints.next();
    },
    place(name, kind) {
      files.set(name, { bytes: bytesOf(""), version: kind, kind });
      hints.next();
    },
    failRead(name, reason) {
      if (reason === undefined) failures.delete(name);
      else failures.set(name, reason);
    },
    list$(next) {
      answer = next;
    },
    hint: () => hints.next(),
    loseWatch(reason) {
      const broken = hints;
      hints = new Subject<void>();
      broken.error(kubeletError("Io", reason));
    },
  };
}
