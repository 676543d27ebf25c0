/** Streams of the embedded runtime: exec, attach and port-forward, by SPDY and by WebSocket. */
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { WebSocket } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectSpdy } from "../support/spdyClient.ts";
import { waitFor } from "../support/waitFor.ts";
import { processesMentioning, runPod, sh, startRuntime } from "./embeddedRuntimeSetup.ts";

const REMOTE = ["v4.channel.k8s.io", "v3.channel.k8s.io"];
interface Wanted {
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly tty?: boolean;
}
const OUTPUTS: Wanted = { stdout: true, stderr: true };
const ALL: Wanted = { ...OUTPUTS, stdin: true };

async function runningContainer(config: Parameters<Awaited<ReturnType<typeof runPod>>["start"]>[1] = {}) {
  const { client, dir, runtime } = await startRuntime();
  const pod = await runPod(client, dir);
  const containerId = await pod.start("main", { ...sh("while :; do sleep 1; done"), ...config });
  const url = async (call: "exec" | "attach", wanted: Wanted, ...cmd: readonly string[]): Promise<string> => {
    const request = { stdin: false, stdout: false, stderr: false, tty: false, ...wanted };
    const answer =
      call === "exec"
        ? await client.call("exec", { containerId, cmd: [...cmd], ...request })
        : await client.call("attach", { containerId, ...request });
    return answer.url;
  };
  return { client, dir, runtime, pod, containerId, url };
}

/** Streams as kubectl opens them: the error stream first. */
async function command(url: string, wanted: Wanted, protocols = REMOTE) {
  const { connection, socket } = await connectSpdy(url, protocols);
  onTestFinished(() => void socket.destroy());
  const open = (name: string) => connection.createStream([["streamType", name]]);
  const error = await open("error");
  const stdin = wanted.stdin === true ? await open("stdin") : undefined;
  const stdout = wanted.stdout === true ? await open("stdout") : undefined;
  const stderr = wanted.stderr === true ? await open("stderr") : undefined;
  const resize = wanted.tty === true ? await open("resize") : undefined;
  const said = async () => {
    const [out, err, end] = await Promise.all([
      stdout === undefined ? Buffer.alloc(0) : buffer(stdout),
      stderr === undefined ? "" : text(stderr),
      text(error),
    ]);
    return { out, err, end };
  };
  return { stdin, stdout, stderr, resize, said, socket, connection };
}

/** Terminals come from script(1) of util-linux. */
const HAS_SCRIPT = spawnSync("script", ["--version"]).stdout?.includes("util-linux") === true;
const SUCCESS = { status: "Success" };
const exitedWith = (code: number) => ({
  status: "Failure",
  message: `command terminated with non-zero exit code: exit status ${code}`,
  reason: "NonZeroExitCode",
  details: { causes: [{ reason: "ExitCode", message: String(code) }] },
});

describe("exec by SPDY", () => {
  it("has the container's environment and directory, both outputs, and the exit code", async () => {
    const { url } = await runningContainer({
      envs: [{ key: "GREETING", value: Buffer.from("hello") }],
      workingDir: "/usr",
    });
    const { said } = await command(await url("exec", OUTPUTS, "sh", "-c", "echo $GREETING; pwd >&2; exit 3"), OUTPUTS);
    const { out, err, end } = await said();
    expect([String(out), err, JSON.parse(end)]).toEqual(["hello\n", "/usr\n", exitedWith(3)]);
  });

  it("takes input to its end, and every byte both ways", async () => {
    const { url } = await runningContainer();
    const wanted = { stdin: true, stdout: true };
    const { stdin, said } = await command(await url("exec", wanted, "cat"), wanted);
    const sent = randomBytes(20_000_000);
    stdin?.end(sent);
    const { out, end } = await said();
    const sum = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    expect([out.length, sum(out), JSON.parse(end)]).toEqual([sent.length, sum(sent), SUCCESS]);
  });

  it("lets a command wait while the client does not read, and gives it all afterwards", async () => {
    const { url } = await runningContainer();
    const wanted = { stdout: true };
    const size = 64 * 1024 * 1024;
    const { stdout, socket } = await command(
      await url("exec", wanted, "head", "-c", String(size), "/dev/zero"),
      wanted,
    );
    socket.pause();
    await waitFor("the connection to stand still", async () => {
      const before = socket.bytesRead;
      await new Promise((resolve) => setImmediate(resolve));
      return before === socket.bytesRead && socket.isPaused();
    });
    expect(socket.bytesRead).toBeLessThan(size / 2);
    socket.resume();
    let count = 0;
    for await (const part of stdout ?? []) count += (part as Buffer).length;
    expect(count).toBe(size);
  });

  it("kills the command when the client goes", async () => {
    const { url, dir } = await runningContainer();
    const { socket } = await command(await url("exec", OUTPUTS, "sh", "-c", `: ${dir}/mark; sleep 1000; :`), OUTPUTS);
    const alive = () => processesMentioning(`${dir}/mark`);
    await waitFor("the command to run", () => alive().length > 0);
    socket.destroy();
    await waitFor("the command to be gone", () => alive().length === 0);
  });

  it("tells older clients in words", async () => {
    const { url } = await runningContainer();
    const { said } = await command(await url("exec", OUTPUTS, "no-such-program"), OUTPUTS, ["v2.channel.k8s.io"]);
    expect((await said()).end).toMatch(
      /^Internal error occurred: error executing command in container: failed to exec in container ".*": exec: "no-such-program": executable file not found in \$PATH$/,
    );
  });
});

describe("exec on a terminal", () => {
  const TTY: Wanted = { stdin: true, stdout: true, tty: true };

  it.runIf(HAS_SCRIPT)("has the size and the input of the client, and the exit code", async () => {
    const { url } = await runningContainer({ envs: [{ key: "GREETING", value: Buffer.from("it's me") }] });
    const shell =
      'until [ "$(stty size)" = \'31 97\' ]; do sleep 0.05; done; read -r line; echo "$GREETING $TERM $line"; exit 5';
    const { stdin, resize, said } = await command(await url("exec", TTY, "sh", "-c", shell), TTY);
    resize?.write('{"Width":80,"Height":24}\n{"Width":97,"Hei');
    resize?.write('ght":31}\n');
    stdin?.write("hello\n");
    const { out, end } = await said();
    expect([String(out), JSON.parse(end)]).toEqual(["hello\r\nit's me xterm hello\r\n", exitedWith(5)]);
  });

  it.runIf(HAS_SCRIPT)("kills what ignores the end of its terminal when the client goes", async () => {
    const { url, dir } = await runningContainer();
    const stubborn = `trap '' HUP TERM; : ${dir}/mark; echo up; sleep 1000; :`;
    const { socket, stdout } = await command(await url("exec", TTY, "sh", "-c", stubborn), TTY);
    await once(stdout ?? socket, "data");
    expect(processesMentioning(`${dir}/mark`)).not.toEqual([]);
    socket.destroy();
    await waitFor("the command to be gone", () => processesMentioning(`${dir}/mark`).length === 0);
  });
});

describe("a streaming URL", () => {
  it("serves once, for what it was made for, and only who agrees on a protocol", async () => {
    const { url } = await runningContainer();
    const first = await url("exec", OUTPUTS, "true");
    await expect(connectSpdy(first.replace("/exec/", "/attach/"), REMOTE)).rejects.toThrow("404 404 page not found");
    const second = await url("exec", OUTPUTS, "true");
    const { said } = await command(second, OUTPUTS);
    expect(JSON.parse((await said()).end)).toEqual(SUCCESS);
    await expect(connectSpdy(second, REMOTE)).rejects.toThrow("404");
    await expect(connectSpdy(await url("exec", OUTPUTS, "true"), ["v9.example"])).rejects.toThrow(
      "403 unable to upgrade: unable to negotiate protocol: client supports [v9.example], server accepts [v4.channel.k8s.io",
    );
  });

  it("is refused for what cannot be", async () => {
    const { client, containerId, pod } = await runningContainer();
    const refusal = (more: object) => client.refusal("exec", { containerId, cmd: ["true"], ...more });
    expect(await refusal({})).toEqual({
      code: "INVALID_ARGUMENT",
      details: "one of stdin, stdout, or stderr must be set",
    });
    expect(await refusal({ tty: true, stdout: true, stderr: true })).toEqual({
      code: "INVALID_ARGUMENT",
      details: "tty: tty and stderr cannot both be true",
    });
    expect(await client.refusal("attach", { containerId, tty: true, stdout: true })).toEqual({
      code: "UNIMPLEMENTED",
      details:
        "the embedded runtime of rxlet has no terminal here: the output of a container goes to its log; try again without -t",
    });
    expect((await client.refusal("attach", { containerId: "gone", stdout: true })).code).toBe("NOT_FOUND");
    await client.call("stopPodSandbox", { podSandboxId: pod.sandboxId });
    expect((await refusal({ stdout: true })).code).toBe("FAILED_PRECONDITION");
    expect((await client.refusal("portForward", { podSandboxId: pod.sandboxId })).code).toBe("FAILED_PRECONDITION");
  });
});

/** Messages by channel until the close. */
async function channels(url: string, protocol: string, onOpen: (socket: WebSocket) => void) {
  const socket = new WebSocket(url.replace("http:", "ws:"), protocol === "" ? [] : [protocol]);
  socket.binaryType = "arraybuffer";
  const heard = new Map<number, string>();
  socket.addEventListener("message", ({ data }) => {
    const bytes = typeof data === "string" ? Buffer.from(data) : Buffer.from(data as ArrayBuffer);
    const said = typeof data === "string" ? Buffer.from(data.slice(1), "base64") : bytes.subarray(1);
    const channel = typeof data === "string" ? Number(data[0]) : (bytes[0] ?? -1);
    heard.set(channel, (heard.get(channel) ?? "") + said.toString("latin1"));
  });
  socket.addEventListener("open", () => onOpen(socket));
  const { code } = await new Promise<{ readonly code: number }>((resolve) => socket.addEventListener("close", resolve));
  return { heard, code, protocol: socket.protocol };
}

describe("exec by WebSocket", () => {
  it("speaks v5: the client ends the input by its signal", async () => {
    const { url } = await runningContainer();
    const { heard, code, protocol } = await channels(
      await url("exec", ALL, "sh", "-c", "cat; echo no >&2; exit 4"),
      "v5.channel.k8s.io",
      (socket) => {
        socket.send(Buffer.from("\0some input"));
        socket.send(Buffer.from([255, 0]));
      },
    );
    expect([heard.get(1), heard.get(2), JSON.parse(heard.get(3) ?? ""), code, protocol]).toEqual([
      "some input",
      "no\n",
      exitedWith(4),
      1000,
      "v5.channel.k8s.io",
    ]);
  });

  it.each([
    ["v4.channel.k8s.io", (word: string) => Buffer.from(`\0${word}`), JSON.stringify(exitedWith(2))],
    ["v4.base64.channel.k8s.io", (word: string) => `0${btoa(word)}`, JSON.stringify(exitedWith(2))],
    ["base64.channel.k8s.io", (word: string) => `0${btoa(word)}`, exitedWith(2).message],
    ["", (word: string) => Buffer.from(`\0${word}`), exitedWith(2).message],
  ])("speaks %j", async (protocol, message, end) => {
    const { url } = await runningContainer();
    const { heard } = await channels(
      await url("exec", { stdin: true, stdout: true }, "sh", "-c", "read line; echo heard $line; exit 2"),
      protocol,
      (socket) => socket.send(message("you\n")),
    );
    expect([heard.get(1), heard.get(3)]).toEqual(["heard you\n", end]);
  });
});

describe("attach", () => {
  it("gives what comes from now on, and the end of the container", async () => {
    const { url, pod } = await runningContainer({
      ...sh("echo before; read line; echo heard $line; exit 7"),
      stdin: true,
    });
    await waitFor("the first line", () => pod.log("main").length === 1);
    const { stdin, said } = await command(await url("attach", ALL), ALL);
    stdin?.write("me\n");
    const { out, end } = await said();
    expect([String(out), JSON.parse(end)]).toEqual(["heard me\n", SUCCESS]);
    expect(pod.log("main").map(([, , line]) => line)).toEqual(["before", "heard me"]);
  });

  it("ends the input of a container with stdinOnce when the client does; a later client has none", async () => {
    const { url, pod } = await runningContainer({ ...sh("cat; echo ended; sleep 1000"), stdin: true, stdinOnce: true });
    const { stdin } = await command(await url("attach", ALL), ALL);
    stdin?.end("all of it\n");
    await waitFor("the end", () => pod.log("main").some(([, , line]) => line === "ended"));
    const later = await command(await url("attach", ALL), ALL);
    later.stdin?.end("too late\n");
    later.socket.destroy();
    expect(pod.log("main").map(([, , line]) => line)).toEqual(["all of it", "ended"]);
  });

  it("leaves the input of other containers open", async () => {
    const { url, pod } = await runningContainer({
      ...sh("while read line; do echo $line; done; echo ended"),
      stdin: true,
    });
    for (const line of ["one", "two"]) {
      const { stdin, socket } = await command(await url("attach", ALL), ALL);
      stdin?.end(`${line}\n`);
      await waitFor("the line", () => pod.log("main").some(([, , text]) => text === line));
      socket.destroy();
    }
    expect(pod.log("main").map(([, , line]) => line)).toEqual(["one", "two"]);
  });
});

describe("port-forward", () => {
  /** A server on loopback that answers what it heard when the client has ended. */
  async function echoServer(): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (socket: Socket) => socket.pipe(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }
  const pair = async (connection: Awaited<ReturnType<typeof connectSpdy>>["connection"], port: number, id: number) => {
    const headers = (type: string): [string, string][] => [
      ["streamType", type],
      ["port", String(port)],
      ["requestID", String(id)],
    ];
    const error = await connection.createStream(headers("error"));
    error.end();
    return { error, data: await connection.createStream(headers("data")) };
  };

  it("carries many connections at once by SPDY, each with its own end", async () => {
    const { client, pod } = await runningContainer();
    const { url } = await client.call("portForward", { podSandboxId: pod.sandboxId });
    const { connection, socket } = await connectSpdy(url, ["portforward.k8s.io"]);
    onTestFinished(() => void socket.destroy());
    const port = await echoServer();
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, id) => {
        const { data, error } = await pair(connection, port, id);
        data.end(`hello ${id}`);
        return [await text(data), await text(error)];
      }),
    );
    expect(answers).toEqual(Array.from({ length: 100 }, (_, id) => [`hello ${id}`, ""]));
  });

  it("says when nobody listens, and goes on", async () => {
    const { client, pod } = await runningContainer();
    const { url } = await client.call("portForward", { podSandboxId: pod.sandboxId });
    const { connection, socket } = await connectSpdy(url, ["portforward.k8s.io"]);
    onTestFinished(() => void socket.destroy());
    const { error } = await pair(connection, 1, 0);
    expect(await text(error)).toMatch(
      new RegExp(`^error forwarding port 1 to pod ${pod.sandboxId}, uid : .*ECONNREFUSED 127\\.0\\.0\\.1:1`),
    );
    const { data } = await pair(connection, await echoServer(), 1);
    data.end("still there");
    expect(await text(data)).toBe("still there");
    await expect(pair(connection, 70_000, 2)).rejects.toThrow("reset with status");
  });

  it("speaks v4 by WebSocket: the port first, then its bytes", async () => {
    const { client, pod } = await runningContainer();
    const port = await echoServer();
    const { url } = await client.call("portForward", { podSandboxId: pod.sandboxId, port: [port] });
    const socket = new WebSocket(url.replace("http:", "ws:"), ["v4.channel.k8s.io"]);
    socket.binaryType = "arraybuffer";
    const heard: string[] = [];
    socket.addEventListener("message", ({ data }) => void heard.push(Buffer.from(data as ArrayBuffer).toString("hex")));
    socket.addEventListener("open", () => socket.send(Buffer.from("\0hi")));
    await waitFor("the answer", () => heard.length === 3);
    const low = (port & 0xff).toString(16).padStart(2, "0");
    const high = (port >> 8).toString(16).padStart(2, "0");
    expect(heard).toEqual([`00${low}${high}`, `01${low}${high}`, `00${Buffer.from("hi").toString("hex")}`]);
    socket.close();
  });
});
