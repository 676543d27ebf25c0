/** Choosing the connection to close when the limit is reached. */
import { describe, expect, it } from "vitest";
import { connectionToClose, peerGroup } from "../../../../src/core/server/connectionToClose.ts";

/** Each word is a connection, oldest first: its peer, in capitals while it is busy. */
const held = (words: string) =>
  words.split(" ").map((word, at) => ({ at, peer: word.toLowerCase(), isIdle: word === word.toLowerCase() }));

describe("choosing a connection to close", () => {
  it.each([
    ["the oldest of the only peer", "a a a", 0, 0],
    ["the oldest of the peer that holds most", "b a a", 1, 1],
    ["an idle one before a busy one", "A a a", 1, 1],
    ["of two that hold as many, the oldest idle one", "A b a b", 1, 1],
    ["a busy one of the greediest before an idle one of another", "b A A A", 1, 0],
    ["no busy connection where those may not be closed", "A B", 0, undefined],
  ])("closes %s: %s", (_title, words, ofStrangers, ofKnown) => {
    expect([connectionToClose(held(words), true)?.at, connectionToClose(held(words), false)?.at]).toEqual([
      ofStrangers,
      ofKnown,
    ]);
  });
});

describe("the peer of an address", () => {
  it.each([
    [undefined, ""],
    ["10.0.0.1", "10.0.0.1"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:db8:1:2::", "2001:db8:1:2"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["fe80:1:2:3:4:5:6:7%eth0", "fe80:1:2:3"],
    ["fe80:1%eth0", "fe80:1"],
    ["::3:4:5:6:7:8", "0:0:3:4"],
    ["::2:3:4:5:6:7:8", "0:2:3:4"],
    ["1::3:4:5:6:7:8", "1:0:3:4"],
    ["1:2::5:6:7:8", "1:2:0:0"],
    ["1:2:3:4:5:6:7::", "1:2:3:4"],
  ])("of %s is %s", (address, group) => {
    expect(peerGroup(address)).toBe(group);
  });
});
