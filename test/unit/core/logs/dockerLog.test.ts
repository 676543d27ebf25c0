import { describe, expect, it } from "vitest";
import { criEntries, dockerAge, dockerLogPlace, rotatedDockerFiles } from "../../../../src/core/logs/dockerLog.ts";

const ID = "0123456789abcdef".repeat(4);
const LATEST = `${ID}-json.log`;
const TIME = "2026-01-02T03:04:05.678901234Z";
const line = (fields: object): string => JSON.stringify({ stream: "stdout", time: TIME, ...fields });

describe("dockerLogPlace", () => {
  it.each([
    ["a log of Docker", `/var/lib/docker/containers/${ID}/${LATEST}`, `/var/lib/docker/containers/${ID}`],
    ["a log below another root", `/data/d/containers/${ID}/${LATEST}`, `/data/d/containers/${ID}`],
    ["the log of another container", `/var/lib/docker/containers/${"f".repeat(64)}/${LATEST}`, undefined],
    ["another file of the container", `/var/lib/docker/containers/${ID}/config.v2.json`, undefined],
    ["a relative path", `containers/${ID}/${LATEST}`, undefined],
    ["any file", "/etc/shadow", undefined],
  ])("reads %s", (_what, target, directory) => {
    expect(dockerLogPlace(target)).toEqual(directory === undefined ? undefined : { directory, latest: LATEST });
  });
});

describe("rotatedDockerFiles", () => {
  it("sorts by age, the oldest first, and leaves out the files of others", () => {
    const names = [
      `${LATEST}.1`,
      LATEST,
      `${LATEST}.10.gz`,
      "hostname",
      `${LATEST}.2`,
      `${LATEST}.x`,
      `${LATEST}.12345`,
    ];
    expect(rotatedDockerFiles(names, LATEST)).toEqual({
      inUse: [`${LATEST}.10.gz`, `${LATEST}.2`, `${LATEST}.1`],
      unused: [],
    });
    expect([LATEST, `${LATEST}.3`, "hostname"].map((name) => dockerAge(name, LATEST))).toEqual([0, 3, undefined]);
  });
});

describe("criEntries", () => {
  it.each([
    ["a whole line", line({ log: "one\n" }), `${TIME} stdout F one\n`],
    ["an empty line", line({ log: "\n" }), `${TIME} stdout F \n`],
    ["part of a line", line({ log: "begin", stream: "stderr" }), `${TIME} stderr P begin\n`],
    ["text that JSON escapes", line({ log: 'ä "x"\t\u0001\n' }), `${TIME} stdout F ä "x"\t\u0001\n`],
    [
      "several lines, as no Docker writes them",
      line({ log: "a\nb\nc" }),
      `${TIME} stdout F a\n${TIME} stdout F b\n${TIME} stdout P c\n`,
    ],
    ["no text", line({ log: "" }), `${TIME} stdout P \n`],
    ["no log", line({}), "malformed\n"],
    ["a time with a blank", line({ log: "x\n", time: "2026 stdout F forged" }), "malformed\n"],
    ["no JSON", "{", "malformed\n"],
    ["a number", "7", "malformed\n"],
  ])("converts %s", (_what, text, expected) => expect(criEntries(text)).toBe(expected));
});
