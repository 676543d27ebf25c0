import { describe, expect, it } from "vitest";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";
import { createSimFiles, type SimFilesOptions } from "../../../src/sim/host/simFiles.ts";
import type { Observable } from "rxjs";

function createFixture(options: Omit<SimFilesOptions, "clock"> = {}) {
  const scheduler = createHeapScheduler();
  const files = createSimFiles({ clock: createSimClock(scheduler), ...options });
  /** The value of a call, or the code of its error. */
  const run = (call: Observable<unknown>): unknown => {
    let outcome: unknown = "no answer";
    call.subscribe({
      next: (value) => (outcome = value),
      error: (error: { readonly code: string; readonly message: string }) =>
        (outcome = `${error.code}: ${error.message}`),
    });
    scheduler.runUntilIdle(10);
    return outcome;
  };
  return { scheduler, files, run };
}

describe("createSimFiles", () => {
  it("creates directories with their parents, writes, lists, reads and removes", () => {
    const { files, run } = createFixture();
    run(files.makeDirectory("/var/lib/pods", 0o700));
    run(files.makeDirectory("/var/lib"));
    run(files.writeFile("/var/lib/pods/b", "two"));
    run(files.writeFile("/var/lib/pods/a", "one", 0o600));
    run(files.writeFile("/var/lib/pods/a", "one more"));
    expect(run(files.list("/var/lib/pods"))).toEqual(["a", "b"]);
    expect(run(files.list("/var/lib"))).toEqual(["pods"]);
    expect(run(files.readTail("/var/lib/pods/a", 4))).toBe("more");
    expect(run(files.readInside("/var/lib", "pods/a", 100))).toBe("one more");
    expect(files.at("/var/lib/pods")).toEqual({ kind: "directory", mode: 0o700 });
    run(files.remove("/var/lib/pods"));
    expect(files.paths()).toEqual(["/", "/var", "/var/lib"]);
  });

  it("answers like a real file system for missing files and other kinds", () => {
    const { files, run } = createFixture();
    files.put("/a/file", "x");
    expect({
      listMissing: run(files.list("/nowhere")),
      listFile: run(files.list("/a/file")),
      readMissing: run(files.readTail("/nowhere", 10)),
      readDirectory: run(files.readTail("/a", 10)),
      writeWithoutParent: run(files.writeFile("/b/file", "x")),
      writeOverDirectory: run(files.writeFile("/a", "x")),
      makeOverFile: run(files.makeDirectory("/a/file/b")),
      removeMissing: run(files.remove("/nowhere")),
    }).toEqual({
      listMissing: [],
      listFile: "Io: cannot list /a/file: ENOTDIR",
      readMissing: "NotFound: cannot read /nowhere: ENOENT",
      readDirectory: "InvalidArgument: cannot open /a: it is a directory",
      writeWithoutParent: "NotFound: cannot write /b/file: ENOENT",
      writeOverDirectory: "InvalidArgument: cannot open /a: it is a directory",
      makeOverFile: "Io: cannot make directory /a/file/b: ENOTDIR",
      removeMissing: undefined,
    });
  });

  it("resolves a link at each access", () => {
    const { files, run } = createFixture();
    files.put("/a/d/f", "a");
    files.put("/b/d/f", "b");
    const seen = (): unknown[] => ["/now/d/f", "/here/d/f", "/here/f"].map((path) => run(files.readTail(path, 9)));
    const absent = (path: string): string => `NotFound: cannot read ${path}: ENOENT`;
    const steps = [seen()];
    for (const target of ["/a", "/b"]) {
      run(files.symlink(target, "/now"));
      run(files.symlink("/now", "/here"));
      steps.push(seen());
    }
    run(files.symlink("/now/d", "/here"));
    steps.push(seen());
    run(files.remove("/now"));
    steps.push(seen());
    expect(steps).toEqual([
      [absent("/now/d/f"), absent("/here/d/f"), absent("/here/f")],
      ["a", "a", absent("/here/f")],
      ["b", "b", absent("/here/f")],
      ["b", absent("/here/d/f"), "b"],
      [absent("/now/d/f"), absent("/here/d/f"), absent("/here/f")],
    ]);
  });

  it("follows links when reading and writing, and replaces or removes the link itself", () => {
    const { files, run } = createFixture();
    files.put("/logs/pod/0.log", "line");
    run(files.makeDirectory("/links"));
    run(files.symlink("/elsewhere", "/links/current"));
    run(files.symlink("../logs/pod", "/links/current"));
    expect(run(files.readTail("/links/current/0.log", 100))).toBe("line");
    run(files.writeFile("/links/current/1.log", "next"));
    expect(files.read("/logs/pod/1.log")).toBe("next");
    run(files.remove("/links/current"));
    expect([files.at("/links/current"), files.read("/logs/pod/0.log")]).toEqual([undefined, "line"]);
    run(files.symlink("loop", "/links/loop"));
    expect(run(files.readTail("/links/loop", 1, "followed"))).toBe("Io: cannot follow /links/loop: ELOOP");
  });

  it("does not cut a character at the start of a tail", () => {
    const { files, run } = createFixture();
    files.put("/f", "äöü");
    expect(run(files.readTail("/f", 3))).toBe("ü");
    expect(run(files.readTail("/f", 4))).toBe("öü");
  });

  it("takes its latency, does nothing when unsubscribed before, and fails with the injected error", () => {
    const { files, scheduler, run } = createFixture({
      latencyMs: 5,
      fault: (operation) => (operation === "symlink" ? "ResourceExhausted" : undefined),
    });
    const writing = files.writeFile("/f", "x").subscribe({ next: () => {} });
    scheduler.advanceTo(4);
    writing.unsubscribe();
    scheduler.advanceTo(10);
    expect(files.paths()).toEqual(["/"]);
    expect(run(files.symlink("/a", "/b"))).toBe("ResourceExhausted: cannot symlink /b: injected fault");
    expect(scheduler.now()).toBe(15);
  });
});
