/** A Docker that hangs, answers half, floods or is none: each call ends with a clear error, and nothing stays open. */
import { join } from "node:path";
import type { Socket } from "node:net";
import { status } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { demultiplex } from "../../../src/dockershim/engine/demultiplex.ts";
import { createEngine } from "../../../src/dockershim/engine/engine.ts";
import type { Engine } from "../../../src/dockershim/engine/engine.ts";
import { dockerCalls } from "../../../src/dockershim/dockerCalls.ts";
import { pullImage } from "../../../src/dockershim/imagePulls.ts";
import { startFakeDocker, json } from "../../support/fakeDocker.ts";
import type { FakeAnswer, FakeDocker } from "../../support/fakeDocker.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const root = temporaryDirectory();
let docker: FakeDocker;
let engine: Engine;
beforeEach(async () => {
  docker = await startFakeDocker(join(root(), "docker.sock"));
  engine = createEngine(docker.socketPath);
});
afterEach(async () => {
  await engine.close();
  await docker.close();
});

const faultOf = (call: Promise<unknown>): Promise<{ readonly code: number; readonly message: string }> =>
  call.then(
    () => {
      throw new Error("the call succeeded");
    },
    ({ code, message }: { code: number; message: string }) => ({ code, message }),
  );

const flood: (text: string) => FakeAnswer = (text) => (_request, response) => {
  const more = (): void => {
    if (response.writable && !response.destroyed) response.write(text, () => setImmediate(more));
  };
  more();
};
const half: FakeAnswer = (_request, response) => {
  response.writeHead(200, { "content-length": 100 }).write('{"half":');
  response.socket?.end();
};
const hang: FakeAnswer = () => undefined;

describe("versions", () => {
  it.each<[string, FakeAnswer, number, RegExp]>([
    [
      "too old",
      json({ Version: "19.3", ApiVersion: "1.40" }),
      status.FAILED_PRECONDITION,
      /Docker 20\.10 or later is needed/,
    ],
    [
      "too new",
      json({ ApiVersion: "1.99", MinAPIVersion: "1.90" }),
      status.FAILED_PRECONDITION,
      /a newer rxlet is needed/,
    ],
    ["of another kind", json({ ApiVersion: "2.0" }), status.INTERNAL, /names no API version/],
    ["no object", json(null), status.INTERNAL, /names no API version/],
    ["no JSON", (_, response) => void response.end("<html>"), status.INTERNAL, /is no JSON/],
    ["refused", json({ message: "go away" }, 403), status.PERMISSION_DENIED, /go away/],
  ])("refuses one that is %s", async (_what, answer, code, message) => {
    docker.on("/version", answer);
    const fault = await faultOf(engine.call({ method: "GET", path: "/info" }));
    expect([fault.code, message.test(fault.message) || fault.message]).toEqual([code, true]);
    expect(docker.requests).toEqual(["GET /version"]);
  });

  it("asks for the version again when another Docker refuses it", async () => {
    docker.on("/info", json({}));
    await engine.call({ method: "GET", path: "/info" });
    docker.on("/info", json({ message: "client version 1.41 is too old" }, 400));
    await faultOf(engine.call({ method: "GET", path: "/info" }));
    docker.on("/version", json({ ApiVersion: "1.52", MinAPIVersion: "1.44" }));
    docker.on("/info", json({}));
    await engine.call({ method: "GET", path: "/info" });
    expect(docker.requests.filter((request) => request === "GET /version")).toHaveLength(2);
    expect((await engine.version()).text).toBe("1.51");
  });

  it("waits for an answer however long the deadline is", async () => {
    docker.on("/slow", json({ done: true }));
    const call = (deadlineMs: number) => engine.call({ method: "POST", path: "/slow", deadlineMs });
    expect(await call(30 * 24 * 3_600_000)).toEqual({ done: true });
    const later = (_: unknown, response: Parameters<FakeAnswer>[1]) => void setTimeout(() => response.end("{}"), 20);
    docker.on("/slow", later);
    expect(await call(2 ** 31)).toEqual({});
  });

  it("speaks the newest that both know, and asks again after Docker was away", async () => {
    docker.on("/version", json({ ApiVersion: "1.99", MinAPIVersion: "1.44" }));
    expect((await engine.version()).text).toBe("1.51");
    docker.on("/info", half);
    await faultOf(engine.call({ method: "GET", path: "/info" }));
    docker.on("/version", json({ ApiVersion: "1.43" }));
    expect((await engine.version()).text).toBe("1.43");
  });
});

describe("answers", () => {
  const call = (): Promise<unknown> => engine.call({ method: "GET", path: "/x", deadlineMs: 300, maxBytes: 100_000 });

  it.each<[string, FakeAnswer, number, RegExp]>([
    ["that never come", hang, status.DEADLINE_EXCEEDED, /no answer in time/],
    ["that never end", (_, response) => void response.write("{"), status.DEADLINE_EXCEEDED, /no answer in time/],
    ["that end in the middle", half, status.UNAVAILABLE, /GET \/x/],
    ["that are endless", flood("x".repeat(10_000)), status.INTERNAL, /longer than 100000 bytes/],
    [
      "with endless headers",
      (_, response) => void response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(200_000)}`),
      status.UNAVAILABLE,
      /GET \/x/,
    ],
    ["that are no HTTP", (_, response) => void response.socket?.write("hello\r\n\r\n"), status.UNAVAILABLE, /GET \/x/],
    ["of a broken connection", (_, response) => void response.socket?.destroy(), status.UNAVAILABLE, /GET \/x/],
  ])("%s give a clear error, and their connection ends", async (_what, answer, code, message) => {
    let socket: Socket | undefined;
    docker.on("/x", (request, response) => {
      ({ socket } = request);
      answer(request, response);
    });
    const fault = await faultOf(call());
    expect([fault.code, message.test(fault.message) || fault.message]).toEqual([code, true]);
    docker.on("/x", json({ works: "again" }));
    expect(await call()).toEqual({ works: "again" });
    await waitFor("the broken connection to end", () => socket?.destroyed);
  });

  it("refuses an answer that nests too deep", async () => {
    docker.on("/x", (_request, response) => void response.end("[".repeat(5_000) + "]".repeat(5_000)));
    expect(await faultOf(call())).toMatchObject({ code: status.INTERNAL });
  });

  it("bounds the message of a refusal", async () => {
    docker.on("/x", json({ message: "no".repeat(20_000) }, 409));
    const fault = await faultOf(call());
    expect([fault.code, fault.message.length < 5_000]).toEqual([status.FAILED_PRECONDITION, true]);
  });

  it("says that Docker is away where nobody listens", async () => {
    const other = createEngine(join(root(), "nobody.sock"));
    expect(await faultOf(other.call({ method: "GET", path: "/x" }))).toMatchObject({ code: status.UNAVAILABLE });
    await other.close();
  });

  it("takes fields of another type for absent ones", async () => {
    docker.on("/containers/json", json([7, null, { Id: "../x" }, { Id: "ab", Names: "x", Labels: ["y"], State: {} }]));
    const nothing = {
      name: "",
      imageName: "",
      imageId: "",
      createdAt: 0n,
      state: "",
      labels: {},
      networkMode: "",
      writableBytes: 0n,
    };
    expect(await dockerCalls(engine).list({})).toEqual([{ id: "ab", ...nothing }]);
  });

  it("filters lists by labels, id and states", async () => {
    let asked: URLSearchParams | undefined;
    docker.on("/containers/json", (request, response) => {
      asked = new URL(request.url ?? "", "http://docker").searchParams;
      json([])(request, response);
    });
    await dockerCalls(engine).list({ a: "b=c", d: "" }, { id: "ab", states: ["exited", "dead"], withSizes: true });
    expect([JSON.parse(asked?.get("filters") ?? ""), asked?.get("all"), asked?.get("size")]).toEqual([
      { label: ["a=b=c", "d="], id: ["ab"], status: ["exited", "dead"] },
      "1",
      "1",
    ]);
  });

  it("takes no id from Docker that is none", async () => {
    docker.on("/containers/create", json({ Id: "../images/x" }));
    expect(await faultOf(dockerCalls(engine).create("n", {}))).toMatchObject({ code: status.INTERNAL });
  });

  it("asks Docker for nothing where an id is none", async () => {
    const calls = dockerCalls(engine);
    expect(await calls.find("container", "../images/x")).toBeUndefined();
    expect(docker.requests).toEqual([]);
  });
});

describe("streams of documents", () => {
  const documents = async (answer: FakeAnswer): Promise<readonly unknown[]> => {
    docker.on("/events", answer);
    const seen: unknown[] = [];
    const lines = await engine.stream({ method: "GET", path: "/events", deadlineMs: 300, maxBytes: 1_000 });
    for await (const line of lines) seen.push(line);
    return seen;
  };

  it("yields documents however the bytes are cut", async () => {
    const answer: FakeAnswer = (_request, response) => {
      const bytes = Buffer.from('{"a":"ä"}\r\n\n{"b":2}\n{"c":3}');
      for (let at = 0; at < bytes.length; at++) response.write(bytes.subarray(at, at + 1));
      response.end();
    };
    expect(await documents(answer)).toEqual([{ a: "ä" }, { b: 2 }, { c: 3 }]);
  });

  it.each<[string, FakeAnswer, number]>([
    ["that does not begin", hang, status.DEADLINE_EXCEEDED],
    ["with an endless line", flood("x".repeat(600)), status.INTERNAL],
    ["with a line that is no JSON", (_, response) => void response.end("oops\n"), status.INTERNAL],
    [
      "that breaks off",
      (_, response) => {
        response.writeHead(200, { "content-length": 100 }).write('{"a":1}\n{"b"');
        response.socket?.end();
      },
      status.UNAVAILABLE,
    ],
  ])("ends one %s with an error", async (_what, answer, code) => {
    expect((await faultOf(documents(answer))).code).toBe(code);
    await waitFor("its connection to end", () => docker.sockets.size <= 2);
  });
});

describe("streams of commands", () => {
  const hijack = () => engine.hijack({ method: "POST", path: "/exec/1/start", body: {}, deadlineMs: 300 });
  const upgraded =
    (...frames: readonly Buffer[]): FakeAnswer =>
    (_request, response) => {
      const socket = response as unknown as Socket;
      socket.write("HTTP/1.1 101 UPGRADED\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n");
      for (const frame of frames) socket.write(frame);
      socket.end();
    };
  const frame = (stream: number, data: string, length = data.length): Buffer =>
    Buffer.concat([Buffer.from([stream, 0, 0, 0, 0, 0, 0, length]), Buffer.from(data)]);
  const outputs = async (): Promise<readonly string[]> => {
    const { socket } = await hijack();
    const seen: string[] = [];
    await demultiplex(socket, (output, piece) => void seen.push(`${output} ${piece.toString()}`));
    return seen;
  };

  it("tells the outputs apart", async () => {
    docker.on("/exec/1/start", upgraded(frame(1, "one"), frame(2, "two"), frame(1, "")));
    expect(await outputs()).toEqual(["stdout one", "stderr two"]);
  });

  it.each<[string, FakeAnswer, number]>([
    ["of an unknown stream", upgraded(frame(9, "x")), status.INTERNAL],
    ["cut in a frame", upgraded(frame(1, "x", 5)), status.INTERNAL],
    ["cut in a header", upgraded(Buffer.from([1, 0])), status.INTERNAL],
    ["without an end of its answer", hang, status.DEADLINE_EXCEEDED],
    [
      "refused",
      (_, response) => {
        const body = '{"message":"no"}';
        (response as unknown as Socket).end(`HTTP/1.1 409 Conflict\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      },
      status.FAILED_PRECONDITION,
    ],
  ])("ends those %s with an error", async (_what, answer, code) => {
    docker.on("/exec/1/start", answer);
    expect((await faultOf(outputs())).code).toBe(code);
  });
});

describe("pulls", () => {
  const pull = (progressMs = 300) =>
    pullImage(engine, "registry.example:5000/a/b:1", undefined, new AbortController().signal, progressMs);
  const lines =
    (...documents: readonly unknown[]): FakeAnswer =>
    (_request, response) =>
      void response.end(documents.map((each) => `${JSON.stringify(each)}\r\n`).join(""));

  it("follows the progress to the id of the image", async () => {
    docker.on("/images/create", lines({ status: "Pulling", id: "l" }, { status: "Done" }));
    docker.on("/images/registry.example:5000/a/b:1/json", json({ Id: "sha256:1" }));
    expect(await pull()).toBe("sha256:1");
  });

  it.each<[string, FakeAnswer, number, RegExp]>([
    [
      "fails as the registry does",
      lines({ error: "denied", errorDetail: { message: "denied" } }),
      status.UNKNOWN,
      /denied/,
    ],
    [
      "names a registry that is away",
      lines({ error: "<html>", errorDetail: { code: 503 } }),
      status.UNKNOWN,
      /^RegistryUnavailable: /,
    ],
    ["fails without progress", hang, status.DEADLINE_EXCEEDED, /./],
    [
      "counts the same line again as no progress",
      (_request, response) => {
        const again = (): void => {
          if (response.destroyed) return;
          response.write('{"status":"Waiting","id":"l"}\n');
          setTimeout(again, 5);
        };
        again();
      },
      status.DEADLINE_EXCEEDED,
      /no progress for 300 ms/,
    ],
    [
      "bounds the layers",
      (_request, response) => {
        let text = "";
        for (let n = 0; n < 10_002; n++) text += `{"status":"Waiting","id":"${n}"}\n`;
        response.end(text);
      },
      status.RESOURCE_EXHAUSTED,
      /no end/,
    ],
  ])("%s", async (_what, answer, code, message) => {
    docker.on("/images/create", answer);
    const fault = await faultOf(pull());
    expect([fault.code, message.test(fault.message) || fault.message]).toEqual([code, true]);
  });

  it("does not ask Docker for images whose names are none", async () => {
    const signal = new AbortController().signal;
    for (const name of ["", "a b", "../../containers/json", "a/../b", "x".repeat(5_000), "a?b", "a#b", "ä"]) {
      expect((await faultOf(pullImage(engine, name, undefined, signal))).code).toBe(status.INVALID_ARGUMENT);
    }
    expect(docker.requests).toEqual([]);
  });
});
