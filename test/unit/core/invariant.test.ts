import { afterEach, describe, expect, it } from "vitest";
import { asFailure, kubeletError, toKubeletError } from "../../../src/core/errors.ts";
import { invariant, InvariantError, unreachable, witnessBrokenInvariants } from "../../../src/core/invariant.ts";
import { ioError } from "../../../src/core/ioError.ts";
import { transportError } from "../../../src/sinks/apiServer/transportError.ts";

const BROKEN = new InvariantError("two live containers");

describe("a broken invariant", () => {
  const undo: (() => void)[] = [];
  afterEach(() => {
    for (const each of undo.splice(0)) each();
  });

  it.each([
    ["toKubeletError", () => toKubeletError(BROKEN)],
    ["ioError", () => ioError("read", "/x", BROKEN)],
    ["transportError", () => transportError("GET /x", BROKEN)],
  ])("is rethrown by %s", (_, convert) => {
    expect(convert).toThrow(BROKEN);
  });

  it("passes unchanged through an error channel, beside KubeletErrors", () => {
    const own = kubeletError("NotFound", "no such pod");
    expect([asFailure(BROKEN), asFailure(own), asFailure("odd")]).toEqual([
      BROKEN,
      own,
      kubeletError("Unknown", "odd", { cause: "odd" }),
    ]);
  });

  it("reaches the newest witness before any code can catch it", () => {
    const seen: string[] = [];
    const swallow = (message: string): void => {
      try {
        invariant(false, message);
      } catch {
        seen.push(`${message} caught`);
      }
    };
    undo.push(witnessBrokenInvariants(({ name, message }) => seen.push(`first: ${name} ${message}`)));
    const second = witnessBrokenInvariants(({ message }) => seen.push(`second: ${message}`));
    swallow("a");
    second();
    swallow("b");
    expect(seen).toEqual(["second: a", "a caught", "first: InvariantError b", "b caught"]);
  });

  it.each([
    [{ kind: "odd" }, 'unreachable: {"kind":"odd"}'],
    [12n, "unreachable: 12"],
  ])("names the value that no case of a switch handles: %s", (value, message) => {
    expect(() => unreachable(value as never)).toThrow(new InvariantError(message));
  });
});
