/** The dockershim on a real Docker beyond the common suite: streams, isolation, usage, restarts on either side. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ReplaySubject, filter, firstValueFrom } from "rxjs";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from "vitest";
import { ok } from "../../src/core/result.ts";
import { dockerCalls } from "../../src/dockershim/dockerCalls.ts";
import { createEngine } from "../../src/dockershim/engine/engine.ts";
import type { NetworkedSandbox, PodNetwork } from "../../src/dockershim/podNetwork.ts";
import * as cri from "../../src/gen/cri.ts";
import { describeOnDocker } from "../support/dockerInstallation.ts";
import { startDockershimNode } from "../support/dockershimNode.ts";
import type { DockershimNode } from "../support/dockershimNode.ts";
import { PAUSE_IMAGE } from "../support/images.ts";
import { unmountBelow } from "../support/kernelState.ts";
import { freePort } from "../support/ports.ts";
import { connectSpdy } from "../support/spdyClient.ts";
import { waitFor } from "../support/waitFor.ts";
import { ending } from "./runtimeFixture.ts";
import type { TestSandbox } from "./runtimeFixture.ts";

interface Wanted {
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly tty?: boolean;
}
const MI = 1024n * 1024n;

describeOnDocker("dockershim on a real Docker", (installation) => {
  let node: DockershimNode;
  beforeAll(async () => {
    node = await startDockershimNode(installation);
  });
  afterEach(() => node.under.cleanUp());
  afterAll(() => node.stop());

  const podNamed = (name: string) =>
    cri.PodSandboxConfig.create({
      metadata: { name: node.under.fresh(name), uid: "u-4", namespace: "ns", attempt: 0 },
      linux: { cgroupParent: `${node.docker.cgroupParent}/${name}` },
    });
  const shell = (script: string): readonly string[] => ["/bin/sh", "-c", script];
  const forever = shell("trap 'exit 0' TERM; while :; do sleep 0.1; done");
  const outputOf = async (id: string, script: string): Promise<string> =>
    Buffer.from((await firstValueFrom(node.under.execSync(id, shell(script), 20))).stdout)
      .toString()
      .trim();

  /** Streams as kubectl opens them: the error stream first. */
  async function command(url: string, wanted: Wanted) {
    const { connection, socket } = await connectSpdy(url, ["v4.channel.k8s.io"]);
    onTestFinished(() => void socket.destroy());
    const open = async (name: keyof Wanted | "error" | "resize", isWanted = true) =>
      isWanted ? await connection.createStream([["streamType", name]]) : undefined;
    const error = await open("error");
    const stdin = await open("stdin", wanted.stdin === true);
    const stdout = await open("stdout", wanted.stdout === true);
    const stderr = await open("stderr", wanted.stderr === true);
    const resize = await open("resize", wanted.tty === true);
    const read = (stream: typeof stdout) => (stream === undefined ? "" : text(stream));
    const said = async () => {
      const [out, err, end] = await Promise.all([read(stdout), read(stderr), read(error)]);
      return { out, err, end: JSON.parse(end) as { readonly status: string; readonly message?: string } };
    };
    return { stdin, resize, said, socket };
  }

  const execUrl = async (containerId: string, wanted: Wanted, script: string): Promise<string> => {
    const request = cri.ExecRequest.create({ containerId, cmd: [...shell(script)], ...wanted });
    return (await firstValueFrom(node.client.runtime.exec(request))).url;
  };

  it("execs with input, both outputs and the exit code; on a terminal with the size of the client", async () => {
    const id = await node.under.run(await node.under.sandbox(), forever);
    const all = { stdin: true, stdout: true, stderr: true };
    const plain = await command(await execUrl(id, all, "read x; echo out $x; echo err >&2; exit 3"), all);
    plain.stdin?.end("input\n");
    expect(await plain.said()).toMatchObject({ out: "out input\n", err: "err\n", end: { status: "Failure" } });
    const tty = { stdin: true, stdout: true, tty: true };
    const size = "until [ \"$(stty size 2>/dev/null)\" = '31 97' ]; do sleep 0.05; done; read x; echo got $x";
    const terminal = await command(await execUrl(id, tty, size), tty);
    terminal.resize?.write('{"Width":97,"Height":31}\n');
    terminal.stdin?.write("line\n");
    const { out, end } = await terminal.said();
    expect([out.replaceAll("\r", "").split("\n"), end]).toEqual([["line", "got line", ""], { status: "Success" }]);
  });

  it("kills a command whose client goes", async () => {
    const id = await node.under.run(await node.under.sandbox(), forever);
    const { socket } = await command(await execUrl(id, { stdout: true }, "exec sleep 4321"), { stdout: true });
    const alive = () => outputOf(id, "ps | grep -c '[s]leep 4321' || true");
    await waitFor("the command to run", async () => (await alive()) === "1");
    socket.destroy();
    await waitFor("the command to be gone", async () => (await alive()) === "0");
  });

  it("attaches to a container: its input and its output from now on", async () => {
    const options = { stdin: true, stdinOnce: true };
    const id = await node.under.run(await node.under.sandbox(), shell("read x; echo told $x"), options);
    const wanted = { stdin: true, stdout: true };
    const { url } = await firstValueFrom(
      node.client.runtime.attach(cri.AttachRequest.create({ containerId: id, ...wanted })),
    );
    const attached = await command(url, wanted);
    attached.stdin?.write("this\n");
    expect(await attached.said()).toMatchObject({ out: "told this\n", end: { status: "Success" } });
  });

  it.each(["0.0.0.0", "127.0.0.1"])("forwards a port to a server on %s of the pod", async (address) => {
    const sandbox = await node.under.sandbox();
    const serve = `mkdir /tmp/w; echo hello > /tmp/w/index.html; exec httpd -f -p ${address}:8080 -h /tmp/w`;
    const id = await node.under.run(sandbox, shell(serve));
    await waitFor("the server", async () => (await outputOf(id, "netstat -ltn | grep -c :8080 || true")) === "1");
    const request = cri.PortForwardRequest.create({ podSandboxId: sandbox.id, port: [8080] });
    const { url } = await firstValueFrom(node.client.runtime.portForward(request));
    const { connection, socket } = await connectSpdy(url, ["portforward.k8s.io"]);
    onTestFinished(() => void socket.destroy());
    const headers = (type: string): [string, string][] => [
      ["streamType", type],
      ["port", "8080"],
      ["requestID", "0"],
    ];
    const error = await connection.createStream(headers("error"));
    const data = await connection.createStream(headers("data"));
    data.end("GET / HTTP/1.0\r\n\r\n");
    const [answer, problem] = await Promise.all([text(data), text(error)]);
    expect([answer.split("\r\n").at(-1), problem]).toEqual(["hello\n", ""]);
  });

  it("shares the namespaces that CRI names, and isolates as CRI says", async () => {
    const namespaceOptions = { pid: cri.NamespaceMode.POD };
    const sandbox = await node.under.sandbox({
      metadata: { name: node.under.fresh("secure"), uid: "u-3", namespace: "ns", attempt: 0 },
      hostname: "named",
      dnsConfig: { servers: ["192.0.2.53"], searches: ["a.example", "b.example"], options: ["ndots:5"] },
      linux: {
        cgroupParent: `${node.docker.cgroupParent}/secure`,
        sysctls: { "net.ipv4.ip_unprivileged_port_start": "1" },
      },
    });
    const id = await node.under.run(sandbox, forever, {
      linux: {
        resources: { memoryLimitInBytes: 32n * MI, cpuShares: 100n },
        securityContext: {
          namespaceOptions,
          runAsUser: { value: 1234n },
          runAsGroup: { value: 99n },
          supplementalGroups: [4321n],
          readonlyRootfs: true,
          noNewPrivs: true,
          capabilities: { addCapabilities: ["NET_ADMIN"], dropCapabilities: ["ALL"] },
          maskedPaths: ["/proc/kcore"],
          readonlyPaths: ["/proc/sys"],
          seccomp: { profileType: cri.SecurityProfile_ProfileType.RuntimeDefault },
        },
      },
    });
    const look = [
      "id -u; id -g; id -G; hostname; cat /etc/resolv.conf",
      "touch /x 2>/dev/null || echo read-only",
      "grep -E 'NoNewPrivs|Seccomp:|CapBnd' /proc/self/status | tr -d '\\t'",
      "cat /proc/1/comm; cat /proc/sys/net/ipv4/ip_unprivileged_port_start",
    ];
    expect((await outputOf(id, look.join("; "))).split("\n")).toEqual([
      "1234",
      "99",
      "99 4321",
      "named",
      "nameserver 192.0.2.53",
      "search a.example b.example",
      "options ndots:5",
      "read-only",
      "CapBnd:0000000000001000",
      "NoNewPrivs:1",
      "Seccomp:2",
      "pause",
      "1",
    ]);
    const { network } = await node.under.sandboxStatus(sandbox.id);
    const addresses = await outputOf(id, "ip -o -4 address show eth0 | grep -oE '([0-9]+\\.){3}[0-9]+' | head -1");
    expect(addresses).toBe(network?.ip);
  });

  it("gives devices, mounts that follow those of the host, and limits that Docker has no words for", async () => {
    const folder = join(node.docker.folder, node.under.fresh("propagated"));
    await mkdir(join(folder, "inner"), { recursive: true });
    execFileSync("mount", ["--bind", folder, folder]);
    execFileSync("mount", ["--make-shared", folder]);
    try {
      const propagation = cri.MountPropagation.PROPAGATION_HOST_TO_CONTAINER;
      const id = await node.under.run(await node.under.sandbox(), forever, {
        devices: [{ hostPath: "/dev/zero", containerPath: "/dev/mine", permissions: "r" }],
        mounts: [{ hostPath: folder, containerPath: "/m", propagation, readonly: true }],
        linux: { resources: { unified: { "pids.max": "77" } } },
      });
      execFileSync("mount", ["-t", "tmpfs", "later", join(folder, "inner")]);
      const device = "head -c 2 /dev/mine | od -An -tx1 | tr -d ' '";
      expect(await outputOf(id, `grep -c ' /m/inner ' /proc/self/mountinfo; ${device}`)).toBe("1\n0000");
      expect((await node.under.status(id)).mounts).toMatchObject([{ hostPath: folder, propagation, readonly: true }]);
      expect(await outputOf(id, "cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null")).toBe("77");
    } finally {
      unmountBelow(folder);
    }
  });

  it("forwards a port of the machine to the pod", async () => {
    const hostPort = await freePort();
    const portMappings = [{ protocol: cri.Protocol.TCP, containerPort: 8080, hostPort, hostIp: "127.0.0.1" }];
    const sandbox = await node.under.sandbox({ portMappings });
    await node.under.run(
      sandbox,
      shell("mkdir /tmp/w; echo hello > /tmp/w/index.html; exec httpd -f -p 8080 -h /tmp/w"),
    );
    const answer = await waitFor("the server", async () => (await fetch(`http://127.0.0.1:${hostPort}/`)).text());
    expect(answer).toBe("hello\n");
  });

  it("tells that the kernel ended a container for its memory", async () => {
    // Docker watches for such ends only after the start is done, and may see an exit before its reason: the hog begins when it
    // is watched, and the container ends once Docker has seen the end of the hog.
    const whenThere = (file: string): string => `while [ ! -e /tmp/${file} ]; do sleep 0.1; done`;
    const hog = "x=x; while :; do x=$x$x; done";
    const script = `${whenThere("begin")}; (${hog}); code=$?; ${whenThere("end")}; exit $code`;
    const resources = { memoryLimitInBytes: 16n * MI };
    const id = await node.under.run(await node.under.sandbox(), shell(script), { linux: { resources } });
    await outputOf(id, "mkdir -p /tmp; touch /tmp/begin");
    const filters = encodeURIComponent(JSON.stringify({ container: [id], event: ["oom"] }));
    await waitFor("Docker to see the end of the hog", async () => {
      const { body } = await node.docker.request(
        "GET",
        `/events?since=1&until=${Date.now() / 1_000}&filters=${filters}`,
      );
      return body.includes('"oom"');
    });
    await outputOf(id, "touch /tmp/end");
    expect(await node.under.exited(id)).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
  });

  it("ends a container whose environment is too large for the kernel, and gives back a huge annotation", async () => {
    const sandbox = await node.under.sandbox();
    const value = Buffer.alloc(3_000_000, "v");
    const annotations = { huge: "a".repeat(1_000_000) };
    const containerId = await node.under.create(sandbox, forever, { envs: [{ key: "HUGE", value }], annotations });
    // Depending on its version runc notices before or after the start is done.
    await ending(node.client.runtime.startContainer(cri.StartContainerRequest.create({ containerId })));
    const status = await node.under.exited(containerId);
    expect([status.exitCode !== 0, status.reason !== "Completed", status.message.length < 5_000]).toEqual([
      true,
      true,
      true,
    ]);
    expect(status.annotations).toEqual(annotations);
  });

  it("measures containers and sandboxes", async () => {
    const sandbox = await node.under.sandbox();
    const id = await node.under.run(sandbox, shell("while :; do :; done"));
    const stats = await waitFor("CPU time", async () => {
      const { stats: all } = await firstValueFrom(
        node.client.runtime.listContainerStats(cri.ListContainerStatsRequest.create({ filter: { id } })),
      );
      return (all[0]?.cpu?.usageNanoCores?.value ?? 0n) > 0n && all[0];
    });
    expect([stats.attributes?.id, (stats.memory?.workingSetBytes?.value ?? 0n) > 0n]).toEqual([id, true]);
    const { stats: pods } = await firstValueFrom(
      node.client.runtime.listPodSandboxStats(cri.ListPodSandboxStatsRequest.create({ filter: { id: sandbox.id } })),
    );
    expect(pods.map(({ attributes }) => attributes?.id)).toEqual([sandbox.id]);
    const request = cri.PodSandboxStatsRequest.create({ podSandboxId: sandbox.id });
    const { stats: pod } = await firstValueFrom(node.client.runtime.podSandboxStats(request));
    expect(pod?.linux?.network?.defaultInterface?.name).toBe("eth0");
    expect([pod?.linux?.containers.map(({ attributes }) => attributes?.id), pod?.linux?.process?.processCount]).toEqual(
      [[id], { value: 2n }],
    );
  });

  it("rotates logs by Docker, behind the link that a removal takes along", async () => {
    const sandbox = await node.under.sandbox();
    const id = await node.under.run(sandbox, shell("seq 100000"), { logPath: "main/0.log" });
    const { logPath } = await node.under.exited(id);
    const target = await readlink(logPath);
    expect([existsSync(`${target}.1`), existsSync(`${target}.3`)]).toEqual([true, false]);
    await node.under.removeContainer(id);
    expect([existsSync(target), await readlink(logPath).catch(() => "gone")]).toEqual([false, "gone"]);
    await symlink("/nowhere", logPath);
  });

  /** State of a pod that a restart may not change. */
  const pictureOf = async (sandbox: TestSandbox, id: string) => ({
    sandbox: await node.under.sandboxStatus(sandbox.id),
    container: await node.under.status(id),
    listed: await node.under.listContainers({ podSandboxId: sandbox.id }),
  });

  it("finds its pods again after its own restart", async () => {
    const sandbox = await node.under.sandbox();
    const id = await node.under.run(sandbox, forever, {
      metadata: { name: "kept", attempt: 2 },
      annotations: { a: "b" },
    });
    const before = await pictureOf(sandbox, id);
    await node.restartShim();
    expect(await waitFor("the shim to answer", () => pictureOf(sandbox, id))).toEqual(before);
    const again = node.under.create(sandbox, forever, { metadata: { name: "kept", attempt: 2 } });
    await expect(again).rejects.toHaveProperty("code", "AlreadyExists");
  });

  it("answers Unavailable while Docker is away, ends the event stream, and goes on with the next Docker", async () => {
    const sandbox = await node.under.sandbox();
    const id = await node.under.run(sandbox, forever);
    const before = await pictureOf(sandbox, id);
    const subscribe = () => {
      const events$ = new ReplaySubject<cri.ContainerEventResponse>(100);
      const subscription = node.client.runtime.getContainerEvents(cri.GetEventsRequest.create()).subscribe(events$);
      onTestFinished(() => subscription.unsubscribe());
      return events$;
    };
    const broken = firstValueFrom(subscribe().pipe(filter(() => false))).catch((error: unknown) => error);
    await node.docker.killDaemon("SIGKILL");
    expect(await broken).toMatchObject({ code: "Unavailable" });
    const { status } = await firstValueFrom(node.client.runtime.status(cri.StatusRequest.create()));
    expect(status?.conditions.map(({ type, status: isMet }) => [type, isMet])).toEqual([
      ["RuntimeReady", false],
      ["NetworkReady", true],
    ]);
    const list = ending(node.client.runtime.listContainers(cri.ListContainersRequest.create()));
    expect(await list).toEqual({ error: "Unavailable" });
    await node.docker.startDaemon();
    expect(await waitFor("Docker to be found again", () => pictureOf(sandbox, id))).toEqual(before);
    const stopped = await waitFor("events again", async () => {
      const events$ = subscribe();
      const probe = await node.under.run(sandbox, shell("exit 0"));
      const isEnd = (event: cri.ContainerEventResponse): boolean =>
        event.containerId === probe && event.containerEventType === cri.ContainerEventType.CONTAINER_STOPPED_EVENT;
      return firstValueFrom(events$.pipe(filter(isEnd)));
    });
    expect(stopped.podSandboxStatus?.id).toBe(sandbox.id);
  });

  it("connects sandboxes to a network of ours, remembers it, and leaves no half connected sandbox ready", async () => {
    const calls: string[] = [];
    const netnsSeen: boolean[] = [];
    let refuse = false;
    const note = (call: string, { id, netns }: NetworkedSandbox): void => {
      calls.push(`${call} ${id}`);
      netnsSeen.push(netns !== "" && existsSync(netns));
    };
    const network: PodNetwork = {
      add: async (sandbox) => {
        note("add", sandbox);
        if (refuse)
          return { ok: false, error: { code: "Io", reason: "Io", message: "no address left", retryable: true } };
        return ok({ ips: ["192.0.2.7", "2001:db8::7"] });
      },
      remove: async (sandbox) => {
        note("remove", sandbox);
        return ok(undefined);
      },
      status: () => ({ ready: true }),
    };
    await node.restartShim(network);
    const sandbox = await waitFor("the shim to answer", () => node.under.sandbox());
    const addresses = { ip: "192.0.2.7", additionalIps: [{ ip: "2001:db8::7" }] };
    expect((await node.under.sandboxStatus(sandbox.id)).network).toEqual(addresses);
    await node.restartShim(network);
    expect((await waitFor("the shim", () => node.under.sandboxStatus(sandbox.id))).network).toEqual(addresses);
    await node.docker.request("DELETE", `/containers/${sandbox.id}?force=1`);
    await node.restartShim(network);
    await waitFor("the sandbox that is gone to leave the network", () => calls.length > 1);
    expect([calls, netnsSeen]).toEqual([
      [`add ${sandbox.id}`, `remove ${sandbox.id}`],
      [true, false],
    ]);
    refuse = true;
    await expect(node.under.sandbox()).rejects.toMatchObject({ code: "Unavailable" });
    expect(await node.under.listSandboxes({})).toEqual([]);
    await node.restartShim();
  });

  it("keeps a sandbox that cri-dockerd connected, with its addresses, and disconnects it at its end", async () => {
    const removed: NetworkedSandbox[] = [];
    const network: PodNetwork = {
      add: async () => ok({ ips: [] }),
      remove: async (sandbox) => {
        removed.push(sandbox);
        return ok(undefined);
      },
      status: () => ({ ready: true }),
    };
    const engine = createEngine(node.docker.socket);
    onTestFinished(() => engine.close());
    const calls = dockerCalls(engine);
    const labels = {
      "io.kubernetes.docker.type": "podsandbox",
      "io.kubernetes.container.name": "POD",
      "annotation.a": "b",
    };
    const HostConfig = { NetworkMode: "none", CgroupParent: `${node.docker.cgroupParent}/theirs` };
    const id = await calls.create("k8s_POD_theirs_ns_u-5_0", { Image: PAUSE_IMAGE, Labels: labels, HostConfig });
    await calls.start(id);
    const { pid } = await calls.inspect("sandbox", id);
    execFileSync("nsenter", ["-t", String(pid), "-n", "ip", "address", "add", "192.0.2.9/32", "dev", "lo"]);
    await node.restartShim(network);
    expect(await waitFor("the shim", () => node.under.sandboxStatus(id))).toMatchObject({
      metadata: { name: "theirs", namespace: "ns", uid: "u-5", attempt: 0 },
      state: cri.PodSandboxState.SANDBOX_READY,
      network: { ip: "192.0.2.9" },
    });
    expect(await node.under.listSandboxes({ state: { state: cri.PodSandboxState.SANDBOX_READY } })).toEqual([id]);
    expect([await node.under.stopSandbox(id), await node.under.removeSandbox(id)]).toEqual([
      { value: {} },
      { value: {} },
    ]);
    const theirs = { id, name: "theirs", namespace: "ns", uid: "u-5", annotations: { a: "b" } };
    expect(removed).toMatchObject([{ ...theirs, netns: `/proc/${pid}/ns/net` }]);
    await node.restartShim();
  });

  it("takes a sandbox for not ready whose connection a killed shim did not finish, and disconnects it", async () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<string>();
    const removed: string[] = [];
    const network: PodNetwork = {
      add: ({ id }) => {
        ask(id);
        return new Promise(() => undefined);
      },
      remove: async ({ id }) => {
        removed.push(id);
        return ok(undefined);
      },
      status: () => ({ ready: false, reason: "NetworkPluginNotReady", message: "no plugin" }),
    };
    await node.restartShim(network);
    const lost = ending(
      node.client.runtime.runPodSandbox(cri.RunPodSandboxRequest.create({ config: podNamed("half") })),
    );
    const id = await asked;
    await node.restartShim(network);
    expect(await lost).toHaveProperty("error");
    const { status } = await waitFor("the shim", () =>
      firstValueFrom(node.client.runtime.status(cri.StatusRequest.create())),
    );
    expect(status?.conditions).toContainEqual({
      type: "NetworkReady",
      status: false,
      reason: "NetworkPluginNotReady",
      message: "no plugin",
    });
    expect((await node.under.sandboxStatus(id)).state).toBe(cri.PodSandboxState.SANDBOX_NOTREADY);
    expect([await node.under.stopSandbox(id), await node.under.removeSandbox(id)]).toEqual([
      { value: {} },
      { value: {} },
    ]);
    expect(removed).toEqual([id]);
    await node.restartShim();
  });
});
