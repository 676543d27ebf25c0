/** The CloudMetadata port on services over HTTP: tokens, bounds, and answers that a service should not give. */
import { firstValueFrom } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { EC2_LAYOUT, OPENSTACK_LAYOUT } from "../../src/core/cloud/metadataLayout.ts";
import { toKubeletError } from "../../src/core/errors.ts";
import { monotonicMs } from "../../src/core/ids.ts";
import type { CloudMetadata } from "../../src/ports/cloudMetadata.ts";
import { createCloudMetadata } from "../../src/sources/cloudMetadata.ts";
import { EC2_ANSWERS, EC2_INSTANCE, OPENSTACK_ANSWERS, OPENSTACK_INSTANCE } from "../support/cloudInstances.ts";
import { LOOPBACK, loopbackServers } from "../support/loopbackServer.ts";
import { metadataService, type MetadataService } from "../support/metadataService.ts";
import { realClock } from "../support/realClock.ts";
import { waitFor } from "../support/waitFor.ts";

const servers = loopbackServers();
const HOURS_MS = 3_600_000;
/** Far less than the time limits of a request. */
const DRIP_MS = 50;

interface Fixture {
  readonly port: CloudMetadata;
  readonly service: MetadataService;
  readonly url: string;
  /** Moves the clock of the port. */
  pass(ms: number): void;
}

async function open(kind: "ec2" | "openstack"): Promise<Fixture> {
  const isEc2 = kind === "ec2";
  const service = metadataService(isEc2 ? EC2_ANSWERS : OPENSTACK_ANSWERS, isEc2);
  const url = `http://${LOOPBACK}:${await servers.http(service.answer)}`;
  let now = 0;
  const clock = { ...realClock, monotonicMs: () => monotonicMs(now) };
  const layout = isEc2 ? EC2_LAYOUT : OPENSTACK_LAYOUT;
  return {
    port: createCloudMetadata({ layout, url, clock }),
    ...{ service, url },
    pass(ms) {
      now += ms;
    },
  };
}

const ask = ({ port }: Fixture) => firstValueFrom(port.instance());
const failure = async (fixture: Fixture): Promise<string> => {
  const error = await ask(fixture).catch(toKubeletError);
  return "code" in error ? `${error.code}: ${error.message}` : "no error";
};
const tokens = ({ requests }: MetadataService): number =>
  requests.filter((request) => request === "PUT /latest/api/token").length;

describe.each([
  ["ec2", EC2_INSTANCE],
  ["openstack", OPENSTACK_INSTANCE],
] as const)("the metadata service of %s", (kind, instance) => {
  it("describes the instance, and reads its own paths alone", async () => {
    const fixture = await open(kind);
    expect(await ask(fixture)).toEqual(instance);
    const { paths, needsToken } = kind === "ec2" ? EC2_LAYOUT : OPENSTACK_LAYOUT;
    const reads = paths.map((path) => `GET ${path}`);
    expect(fixture.service.requests).toEqual([...(needsToken ? ["PUT /latest/api/token"] : []), ...reads]);
  });

  it("is not followed to another place", async () => {
    const fixture = await open(kind);
    const elsewhere = metadataService({}, false);
    const location = `http://${LOOPBACK}:${await servers.http(elsewhere.answer)}/`;
    fixture.service.fault = (_, response) => {
      response.writeHead(302, { location }).end();
      return true;
    };
    expect(await failure(fixture)).toMatch(
      /^Unavailable: \/.*: answered with status 302, a redirect, which is not followed$/,
    );
    expect(elsewhere.requests).toEqual([]);
  });

  it("fails with an answer that is longer than 64 KiB, however it is sent", async () => {
    const fixture = await open(kind);
    const path = "/latest/meta-data/instance-type";
    fixture.service.facts.set(path, "x".repeat(64 * 1024 + 1));
    expect(await failure(fixture)).toBe(`ResourceExhausted: ${path}: the answer is larger than 65536 bytes`);
    fixture.service.fault = ({ method }, response) => {
      if (method !== "GET") return false;
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(8_192)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
      return true;
    };
    expect(await failure(fixture)).toMatch(/^ResourceExhausted: .*: the answer is larger than 65536 bytes$/);
  });

  it("takes an answer of 64 KiB, and leaves out the label it would make", async () => {
    const fixture = await open(kind);
    fixture.service.facts.set("/latest/meta-data/instance-type", "x".repeat(64 * 1024));
    expect(await ask(fixture)).toMatchObject({ instanceType: "", providerId: instance.providerId });
  });

  it.each([403, 429, 500, 503])("fails with status %i", async (status) => {
    const fixture = await open(kind);
    fixture.service.fault = (_, response) => {
      response.writeHead(status).end("no");
      return true;
    };
    expect(await failure(fixture)).toMatch(new RegExp(`^Unavailable: /.*: answered with status ${status}$`));
  });

  it("fails when the connection breaks, or nobody listens", async () => {
    const fixture = await open(kind);
    fixture.service.fault = ({ socket }) => {
      socket.destroy();
      return true;
    };
    expect(await failure(fixture)).toMatch(/^Unavailable: \/.*: no answer: /);
    const closed = `http://${LOOPBACK}:${await servers.closedPort()}`;
    const port = createCloudMetadata({ layout: OPENSTACK_LAYOUT, url: closed, clock: realClock });
    expect(await failure({ ...fixture, port })).toMatch(/^Unavailable: .*: no answer: ECONNREFUSED$/);
  });

  it("ends the connection of a cancelled call, although the answer goes on", async () => {
    const fixture = await open(kind);
    let isClosed = false;
    fixture.service.fault = (_, response) => {
      const drip = setInterval(() => response.write("x"), DRIP_MS);
      response.once("close", () => {
        isClosed = true;
        clearInterval(drip);
      });
      return true;
    };
    const subscription = fixture.port.instance().subscribe({ error: () => {} });
    await waitFor("the request", () => fixture.service.requests.length === 1);
    subscription.unsubscribe();
    await waitFor("the end of its connection", () => isClosed);
    expect(fixture.service.requests.length).toBe(1);
  });
});

describe("tokens of ec2", () => {
  afterEach(() => expect(servers.connections()).toBeGreaterThan(0));

  it("serve many reads, and are renewed before they expire", async () => {
    const fixture = await open("ec2");
    await ask(fixture);
    fixture.pass(5.3 * HOURS_MS);
    await ask(fixture);
    expect(tokens(fixture.service)).toBe(1);
    fixture.pass(0.2 * HOURS_MS);
    await ask(fixture);
    expect(tokens(fixture.service)).toBe(2);
  });

  it("live as long as the service says", async () => {
    const fixture = await open("ec2");
    fixture.service.tokenSeconds = 60;
    await ask(fixture);
    fixture.pass(55_000);
    await ask(fixture);
    expect(tokens(fixture.service)).toBe(2);
  });

  it("are renewed once when the service has forgotten them", async () => {
    const fixture = await open("ec2");
    await ask(fixture);
    fixture.service.forgetTokens();
    expect(await ask(fixture)).toEqual(EC2_INSTANCE);
    expect(tokens(fixture.service)).toBe(2);
    fixture.service.fault = ({ method }, response) => {
      if (method === "PUT") return false;
      response.writeHead(401).end();
      return true;
    };
    expect(await failure(fixture)).toMatch(/^Unavailable: .*: answered with status 401$/);
    expect(tokens(fixture.service)).toBe(3);
  });

  it.each(["", "two words", "line\nbreak", "x".repeat(4_097)])("are refused in the form %j", async (text) => {
    const fixture = await open("ec2");
    fixture.service.fault = ({ method }, response) => {
      if (method !== "PUT") return false;
      response.end(text);
      return true;
    };
    expect(await failure(fixture)).toBe("InvalidArgument: /latest/api/token: the answer is no token");
    expect(fixture.service.requests).toEqual(["PUT /latest/api/token"]);
  });
});
