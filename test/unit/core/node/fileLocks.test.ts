import { expect, it } from "vitest";
import { waitersFor } from "../../../../src/core/node/fileLocks.ts";

const TABLE = `1: POSIX  ADVISORY  WRITE 900 fe:00:12 0 EOF
2: FLOCK  ADVISORY  WRITE 100 fe:00:212 0 EOF
2: -> FLOCK  ADVISORY  WRITE 101 fe:00:212 0 EOF
2: -> FLOCK  ADVISORY  READ 102 fe:00:212 0 EOF
3: FLOCK  ADVISORY  WRITE 100 fe:00:12 0 EOF
4: FLOCK  ADVISORY  WRITE 200 fd:01:212 0 EOF
4: -> FLOCK  ADVISORY  WRITE 201 fd:01:212 0 EOF
5: POSIX  ADVISORY  WRITE 300 fe:00:300 0 EOF
5: -> POSIX  ADVISORY  WRITE 301 fe:00:300 0 EOF
`;

it.each([
  ["waiters of the same file", { holder: 100, inode: 212 }, [101, 102]],
  ["no waiter, of a file whose number ends the same", { holder: 100, inode: 12 }, []],
  ["the same number on another device", { holder: 200, inode: 212 }, [201]],
  ["a lock of another process", { holder: 999, inode: 212 }, []],
  ["locks of fcntl(2)", { holder: 300, inode: 300 }, []],
])("%s", (_, lock, wanted) => {
  expect(waitersFor(TABLE, lock)).toEqual(wanted);
});

it("reads an empty table", () => {
  expect(waitersFor("", { holder: 1, inode: 1 })).toEqual([]);
});
