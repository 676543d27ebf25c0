/** Fixture of the Mounts conformance suite: a private directory and operations on it. */
import { lastValueFrom, type Observable } from "rxjs";
import { isKubeletError } from "../../src/core/errors.ts";
import { type MountEntry, mountAt } from "../../src/core/mount/mountInfo.ts";
import type { Files } from "../../src/ports/files.ts";
import type { Mounts } from "../../src/ports/mounts.ts";

/** The mounts of a machine under test. */
export interface MountsFixture {
  readonly port: Mounts;
  /** Files of the same machine. */
  readonly files: Files;
  /** Empty directory, the root directory of the kubelet; whatever is mounted below is gone after `close`. */
  readonly place: string;
  close(): Promise<void>;
}

/** The value of a call; a failure is its code. */
export async function ending<T>(call: Observable<T>): Promise<T | string> {
  try {
    return await lastValueFrom(call);
  } catch (thrown) {
    if (!isKubeletError(thrown)) throw thrown;
    return thrown.code;
  }
}

/** The hands of a test. */
export class MountsUnderTest {
  readonly fixture: MountsFixture;

  constructor(fixture: MountsFixture) {
    this.fixture = fixture;
  }

  get port(): Mounts {
    return this.fixture.port;
  }

  /** A path in the fixture's place. */
  readonly at = (...names: readonly string[]): string => [this.fixture.place, ...names].join("/");

  async dir(...names: readonly string[]): Promise<string> {
    await lastValueFrom(this.fixture.files.makeDirectory(this.at(...names), 0o755));
    return this.at(...names);
  }

  readonly write = (path: string, content: string): Promise<void> =>
    lastValueFrom(this.fixture.files.writeFile(path, content));

  /** Content, or the code of the failure. */
  readonly read = (path: string): Promise<string> => ending(this.fixture.files.readTail(path, 1_000, "followed"));

  readonly names = (path: string): Promise<readonly string[]> => lastValueFrom(this.fixture.files.list(path));

  readonly link = (target: string, path: string): Promise<void> =>
    lastValueFrom(this.fixture.files.symlink(target, path));

  readonly remove = (path: string) => ending(this.fixture.files.remove(path));

  async entry(path: string): Promise<MountEntry | undefined> {
    return mountAt(await lastValueFrom(this.port.list()), path);
  }

  /** How many mounts there are at or below the place. */
  async count(): Promise<number> {
    const { place } = this.fixture;
    const all = await lastValueFrom(this.port.list());
    return all.filter(({ mountPoint }) => mountPoint.startsWith(`${place}/`)).length;
  }

  readonly tmpfs = (target: string, ...options: readonly string[]) =>
    ending(this.port.mount({ source: "tmpfs", target, fsType: "tmpfs", options }));
}
