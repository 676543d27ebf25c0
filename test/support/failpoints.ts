/**
 * Failpoints: ports of a kubelet that dies at one of its effects, as with kill -9. What it asked for before is done, the
 * rest never happens, and nobody hears of it. What is between two effects is memory, so that before the next one is
 * after the last one.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, NEVER, type Observable, switchMap } from "rxjs";
import type { Call } from "../../src/ports/call.ts";
import type { Files } from "../../src/ports/files.ts";
import type { Mounts } from "../../src/ports/mounts.ts";
import type { VolumeFiles } from "../../src/ports/volumeFiles.ts";
import type { MountingCalls } from "./mountingCsiDriver.ts";

/** Ports of a machine with volumes. */
export interface MachinePorts {
  readonly files: Files;
  readonly mounts: Mounts;
  readonly volumeFiles: VolumeFiles;
}

export interface Failpoint {
  /** Counted from 1. */
  readonly effect: number;
  /** `halfway`: part of it is done; of an effect that has no parts nothing is. */
  readonly when: "before" | "halfway";
}

export interface Failing {
  readonly ports: MachinePorts;
  /** Effects requested so far, as `mount /path`. */
  readonly effects: readonly string[];
  /** The same calls of a driver up to the failpoint. `halfway`: the driver does its work, and nobody hears its answer. */
  guardDriver(driver: MountingCalls): MountingCalls;
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));

/** The same ports, up to the failpoint; then `died` is called once and nothing happens any more. */
export function failingPorts(machine: MachinePorts, point: Failpoint | undefined, died: () => void): Failing {
  const { files, mounts, volumeFiles } = machine;
  const effects: string[] = [];
  let isDead = false;
  const dies$ = defer(() => {
    isDead = true;
    died();
    return NEVER;
  });
  const guarded = <T>(name: string, path: string, effect$: Call<T>, half$: Observable<unknown> = EMPTY): Call<T> =>
    defer(() => {
      if (isDead) return NEVER;
      effects.push(`${name} ${path}`);
      if (effects.length !== point?.effect) return effect$;
      return point.when === "before" ? dies$ : concat(half$.pipe(ignoreElements()), dies$);
    });
  const ports: MachinePorts = {
    files: {
      ...files,
      makeDirectory: (path, mode) =>
        guarded("makeDirectory", path, files.makeDirectory(path, mode), files.makeDirectory(parentOf(path))),
      createDirectory: (path, mode) =>
        guarded("createDirectory", path, files.createDirectory(path, mode), files.makeDirectory(parentOf(path))),
      writeFile: (path, content, mode) =>
        guarded("writeFile", path, files.writeFile(path, content, mode), files.writeFile(path, "", mode)),
      createFile: (path, mode) => guarded("createFile", path, files.createFile(path, mode)),
      replaceFile: (path, content, mode, outlives) =>
        guarded("replaceFile", path, files.replaceFile(path, content, mode, outlives)),
      symlink: (target, path) => guarded("symlink", path, files.symlink(target, path)),
      remove: (path) => guarded("remove", path, files.remove(path), removedInPart(files, path)),
    },
    mounts: {
      ...mounts,
      mount: (request, more) => guarded("mount", request.target, mounts.mount(request, more)),
      formatAndMount: (request, more) =>
        guarded("formatAndMount", request.target, mounts.formatAndMount(request, more)),
      // Binding and making read-only are two system calls.
      bind: (request, more) =>
        guarded("bind", request.target, mounts.bind(request, more), mounts.bind({ ...request, readOnly: false }, more)),
      attachLoop: (path, more) => guarded("attachLoop", path, mounts.attachLoop(path, more)),
      detachLoops: (path, more) => guarded("detachLoops", path, mounts.detachLoops(path, more)),
      makeReadOnly: (target, more) => guarded("makeReadOnly", target, mounts.makeReadOnly(target, more)),
      unmount: (target, more) => guarded("unmount", target, mounts.unmount(target, more)),
      bindInside: (request, more) =>
        guarded(
          "bindInside",
          request.target,
          mounts.bindInside(request, more),
          files.makeDirectory(parentOf(request.target)),
        ),
      makeInside: (place) => guarded("makeInside", place.volumeRoot, mounts.makeInside(place)),
    },
    volumeFiles: {
      ...volumeFiles,
      writeAtomic: (dir, payload, ownership) =>
        guarded("writeAtomic", dir, volumeFiles.writeAtomic(dir, payload, ownership), halfGeneration(files, dir)),
      setOwnership: (dir, ownership, seen) =>
        guarded("setOwnership", dir, volumeFiles.setOwnership(dir, ownership, seen)),
    },
  };
  const call = <T>(name: string, path: string, call$: Observable<T>): Observable<T> =>
    guarded(name, path, call$, call$);
  const guardDriver = (driver: MountingCalls): MountingCalls => ({
    nodeStageVolume: (request, more) => call("stage", request.stagingTargetPath, driver.nodeStageVolume(request, more)),
    nodeUnstageVolume: (request, more) =>
      call("unstage", request.stagingTargetPath, driver.nodeUnstageVolume(request, more)),
    nodePublishVolume: (request, more) => call("publish", request.targetPath, driver.nodePublishVolume(request, more)),
    nodeUnpublishVolume: (request, more) =>
      call("unpublish", request.targetPath, driver.nodeUnpublishVolume(request, more)),
  });
  return { ports, effects, guardDriver };
}

/** The first thing in the tree has gone, unless it is mounted; a file has no parts. */
const removedInPart = (files: Files, path: string): Observable<void> =>
  files.list(path).pipe(
    switchMap(([first]) => (first === undefined ? EMPTY : files.remove(`${path}/${first}`))),
    catchError(() => EMPTY),
  );

const HALF_GENERATION = "..2026_01_02_03_04_05.half";

/** A generation of files that was not finished, and the link that was to lead to it. */
const halfGeneration = (files: Files, dir: string): Observable<void> =>
  concat(
    files.makeDirectory(`${dir}/${HALF_GENERATION}`, 0o700),
    files.writeFile(`${dir}/${HALF_GENERATION}/half`, "cut"),
    files.symlink(HALF_GENERATION, `${dir}/..data_tmp`),
  );
