import { describe, expect, it } from "vitest";
import { unreachableRuntime } from "../../../../src/core/runtime/unreachableRuntime.ts";

const said = (last: string): string => `No connection established. Last error: ${last}. Resolution note: `;
const ENDPOINT = "unix:///run/x.sock";

describe("unreachableRuntime", () => {
  it.each([
    ["ENOENT", "no such file"],
    ["ENOTDIR", "no such file"],
    ["ECONNREFUSED", "connection refused: nothing listens there, or it is not a socket"],
    ["ENOTSOCK", "not a socket"],
    ["EAGAIN", "its queue of connections is full"],
    ["EIO", "EIO"],
  ])("names the reason of %s", (errno, reason) => {
    expect(unreachableRuntime(ENDPOINT, said(`Error: connect ${errno} /run/x.sock`))).toBe(
      `no container runtime at unix:///run/x.sock (${reason}): is containerd running? See containerRuntimeEndpoint`,
    );
  });

  it.each(["EACCES", "EPERM"])("does not ask whether containerd runs for %s", (errno) => {
    expect(unreachableRuntime(ENDPOINT, said(`Error: connect ${errno} /run/x.sock`))).toBe(
      "the container runtime at unix:///run/x.sock cannot be used (permission denied): rxlet needs the right to connect, for example as root. See containerRuntimeEndpoint",
    );
  });

  it.each(["Protocol error", "Error: Protocol error"])("names a server of another protocol: %s", (error) => {
    expect(unreachableRuntime(ENDPOINT, said(`${error} (0x1)`))).toBe(
      "the server at unix:///run/x.sock does not speak gRPC: is it the socket of a container runtime? See containerRuntimeEndpoint",
    );
  });

  it.each(["Connection dropped", "name resolution: connect ENOENT /run/x.sock", ""])("leaves %j alone", (details) => {
    expect(unreachableRuntime(ENDPOINT, details)).toBeUndefined();
  });
});
