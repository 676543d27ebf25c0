/** The metadata service of a cloud over HTTP, as EC2 and OpenStack offer it: session tokens, facts, and faults. */
import type { IncomingMessage, ServerResponse } from "node:http";

export interface MetadataService {
  /** Facts by path. */
  readonly facts: Map<string, string>;
  /** Requests so far: method and path. */
  readonly requests: string[];
  /** Whether facts need a token. */
  needsToken: boolean;
  /** Life that new tokens get, in seconds. */
  tokenSeconds: number;
  /** Answers instead of the facts. */
  fault: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Forgets all tokens, as after a migration of the machine. */
  forgetTokens(): void;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
}

const TTL = "x-aws-ec2-metadata-token-ttl-seconds";

/** Creates a service that knows these facts. */
export function metadataService(facts: Readonly<Record<string, string>>, needsToken: boolean): MetadataService {
  const tokens = new Set<string>();
  let made = 0;
  const service: MetadataService = {
    facts: new Map(Object.entries(facts)),
    requests: [],
    needsToken,
    tokenSeconds: 21_600,
    fault: undefined,
    forgetTokens: () => tokens.clear(),
    answer(request, response) {
      const { method = "", url = "", headers } = request;
      service.requests.push(`${method} ${url}`);
      const end = (status: number, body = "", more: Record<string, string> = {}): unknown =>
        response.writeHead(status, more).end(body);
      if (service.fault?.(request, response) === true) return;
      if (url === "/latest/api/token") {
        if (method !== "PUT" || !/^\d+$/.test(String(headers[TTL]))) return void end(400);
        made += 1;
        tokens.add(`token-${made}`);
        return void end(200, `token-${made}`, { [TTL]: String(service.tokenSeconds) });
      }
      if (service.needsToken && !tokens.has(String(headers["x-aws-ec2-metadata-token"]))) return void end(401);
      const fact = service.facts.get(url);
      end(fact === undefined ? 404 : 200, fact ?? "<html>404 - Not Found</html>");
    },
  };
  return service;
}
