/** Resolver settings of the node: their bound, and the error of a file that cannot be read. */
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import type { PodContext } from "../../../src/pipelines/podContext.ts";
import { MAX_RESOLV_CONF_BYTES, resolverSettings } from "../../../src/pipelines/resolverSettings.ts";
import { marbles, type MarbleSource } from "../../support/marbles.ts";

const settingsFrom = (file: MarbleSource<string>, path = "/etc/resolv.conf") => {
  const asked: unknown[][] = [];
  const readTail = (...args: readonly unknown[]) => {
    asked.push([...args]);
    return file;
  };
  const context = { ports: { files: { readTail } }, config: { resolvConfPath: path } };
  return { asked, settings$: resolverSettings(context as unknown as PodContext) };
};
const line = "nameserver 10.0.0.1\n";

describe("resolverSettings", () => {
  it.each([
    ["takes", MAX_RESOLV_CONF_BYTES, true],
    ["refuses", MAX_RESOLV_CONF_BYTES + 1, false],
  ])("%s a file of %i bytes", (_rule, length, isTaken) => {
    marbles(({ cold, expectObservable, flush }) => {
      const file = "    --(t|)";
      const expected = "--(s|)";

      const { asked, settings$ } = settingsFrom(cold(file, { t: line.padEnd(length, "#") }));
      const refusal = {
        code: "InvalidArgument",
        reason: "CreatePodSandboxError",
        message: "resolver settings /etc/resolv.conf: more than 1048576 bytes",
      };
      expectObservable(settings$).toBe(expected, {
        s: isTaken
          ? { ok: true, value: expect.objectContaining({ nameservers: ["10.0.0.1"] }) }
          : { ok: false, error: expect.objectContaining(refusal) },
      });
      flush();
      expect(asked).toEqual([["/etc/resolv.conf", 1_048_577, "followed"]]);
    })();
  });

  it(
    "says that the file of the node cannot be read",
    marbles(({ cold, expectObservable }) => {
      const file = "    #";
      const expected = "(e|)";

      const { settings$ } = settingsFrom(cold<string>(file, {}, kubeletError("NotFound", "no such file")));
      expectObservable(settings$).toBe(expected, {
        e: {
          ok: false,
          error: expect.objectContaining({
            code: "NotFound",
            reason: "CreatePodSandboxError",
            message: "cannot read the resolver settings of the node (resolvConf): no such file",
          }),
        },
      });
    }),
  );

  it(
    "has no settings without a path",
    marbles(({ cold, expectObservable }) => {
      const file = "    -";
      const expected = "(n|)";

      expectObservable(settingsFrom(cold<string>(file), "").settings$).toBe(expected, {
        n: { ok: true, value: undefined },
      });
    }),
  );
});
