import { describe, expect, it } from "vitest";
import {
  forwardedPorts,
  isStreamPath,
  isWebSocket,
  processStreams,
} from "../../../../src/core/server/streamOptions.ts";

describe("processStreams", () => {
  const none = { stdin: false, stdout: false, stderr: false, tty: false };
  it.each<[string, object | string]>([
    ["input=1", { ...none, stdin: true }],
    ["output=1", { ...none, stdout: true }],
    ["error=1", { ...none, stderr: true }],
    ["output=1&error=1", { ...none, stdout: true, stderr: true }],
    ["output=1&error=1&tty=1", { ...none, stdout: true, tty: true }],
    ["input=1&output=true&error=0", { ...none, stdin: true }],
    ["error=1&tty=1", "you must specify at least 1 of stdin, stdout, stderr"],
    ["tty=1", "you must specify at least 1 of stdin, stdout, stderr"],
    ["", "you must specify at least 1 of stdin, stdout, stderr"],
  ])("reads %j", (query, expected) => {
    const read = processStreams(new URLSearchParams(query));
    expect(read.ok ? read.value : read.error.message).toEqual(expected);
  });
});

describe("forwardedPorts", () => {
  const ports = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  it.each<[string, readonly number[] | string]>([
    ["port=1", [1]],
    ["port=65535", [65_535]],
    ["port=80,443&port=8080", [80, 443, 8080]],
    [`port=${ports(128).join(",")}`, ports(128)],
    [`port=${ports(129).join(",")}`, 'query parameter "port" names more than 128 ports'],
    ["", 'query parameter "port" is required'],
    ["port=80&port=", 'query parameter "port" cannot be empty'],
    ["port=0", 'port "0" must be > 0'],
    ["port=65536", 'unable to parse "65536" as a port: strconv.ParseUint: parsing "65536": value out of range'],
    ["port=80,x", 'unable to parse "80,x" as a port: strconv.ParseUint: parsing "x": invalid syntax'],
    ["port=-1", 'unable to parse "-1" as a port: strconv.ParseUint: parsing "-1": invalid syntax'],
  ])("reads %.40j", (query, expected) => {
    const read = forwardedPorts(new URLSearchParams(query));
    expect(read.ok ? read.value : read.error.message).toEqual(expected);
  });
});

it.each([
  ["/exec/demo/web/main", true],
  ["/attach/demo/web/main", true],
  ["/portForward/demo/web", true],
  ["/exec", false],
  ["/run/demo/web/main", false],
  ["/x/exec/demo", false],
])("%s leads to a stream: %s", (path, expected) => {
  expect(isStreamPath(path)).toBe(expected);
});

it.each([
  ["WebSocket", true],
  ["SPDY/3.1", false],
  [undefined, false],
])("Upgrade %j asks for a WebSocket: %s", (upgrade, expected) => {
  expect(isWebSocket(upgrade)).toBe(expected);
});
