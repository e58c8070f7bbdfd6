// Requests to the search's server, and what can go wrong with them in one sentence each.

import * as http from "node:http";
import * as https from "node:https";

import { type Address, shown } from "./address.ts";
import {
  type Answer,
  answerOf,
  type Explanation,
  explanationOf,
  isIndexing,
  type Result,
  type Usages,
  usagesOf,
} from "./answers.ts";
import { titleOf } from "./languages.ts";
import { oneLine, wellFormed } from "./plain.ts";

/** Bytes of an answer, at most. */
const LARGEST_ANSWER = 8 * 1024 * 1024;

/** What went wrong, as the user is told. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly kind: "absent" | "busy" | "ended" | "late" | "cancelled" | "lacking" | "refused" | "broken";

  /**
   * `kind`: absent: no server; busy: it opens its index; ended, late: it has ended before its answer, or takes too
   * long; lacking: its index has no code of the language; refused: it has answered with another error.
   */
  constructor(kind: ServerError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

export type Readiness = "ready" | "indexing" | "absent";

export interface Question {
  readonly query: string;
  readonly context: string;
  readonly language: string;
  readonly top: number;
}

export class Client {
  private readonly address: Address;
  private readonly milliseconds: number;

  /** `milliseconds`: how long an answer is waited for. */
  constructor(address: Address, milliseconds: number) {
    this.address = address;
    this.milliseconds = milliseconds;
  }

  /**
   * Search.
   *
   * @throws ServerError: no server, no answer in time, or an answer that cannot be used
   */
  async search(question: Question, signal?: AbortSignal): Promise<Answer> {
    const [query, context] = [wellFormed(question.query), wellFormed(question.context)];
    const body = await this.ask("POST", "/api/search", { ...question, query, context }, signal);
    return this.checked(() => answerOf(body, question.query, question.top));
  }

  /** What the words of a query are aligned with in a result; as {@link search}. */
  async explain(query: string, index: string, result: Result, signal?: AbortSignal): Promise<Explanation> {
    const asked = new URLSearchParams({ q: wellFormed(query), row: String(result.row), index });
    const body = await this.ask("GET", `/api/explain?${asked}`, undefined, signal);
    return this.checked(() => explanationOf(body, result.code, result.indent));
  }

  /** Who calls or mentions a name, at most `most` places; as {@link search}. */
  async usages(name: string, most: number, signal?: AbortSignal): Promise<Usages> {
    const asked = new URLSearchParams({ name: wellFormed(name), top: String(most) });
    const body = await this.ask("GET", `/api/usages?${asked}`, undefined, signal);
    return this.checked(() => usagesOf(body, most));
  }

  /** Save whether a result answers a query; null: neither any more. As {@link search}. */
  async judge(query: string, result: Result, relevant: boolean | null): Promise<void> {
    const place = { path: result.path, start_line: result.startLine, end_line: result.endLine };
    await this.ask("POST", "/api/judgements", { query: wellFormed(query), ...place, relevant });
  }

  /**
   * Whether a server is ready there, or answers from a part of the first index that it makes; as {@link search} if what
   * answers is none. A server accepts connections before it has opened its index, so one that then ends, or takes long,
   * is not ready.
   */
  async readiness(signal?: AbortSignal): Promise<Readiness> {
    try {
      const body = await this.ask("GET", "/health", undefined, signal);
      return isIndexing(body) ? "indexing" : "ready";
    } catch (error) {
      if (error instanceof ServerError && NOT_READY.has(error.kind)) return "absent";
      throw error;
    }
  }

  private async ask(method: "GET" | "POST", path: string, body?: object, signal?: AbortSignal): Promise<unknown> {
    const { status, text } = await this.exchange(method, path, body && JSON.stringify(body), signal);
    const read = this.checked((): unknown => JSON.parse(text));
    if (status === 200) return read;
    throw refusal(status, messageOf(read), shown(this.address));
  }

  private exchange(
    method: string,
    path: string,
    body?: string,
    signal?: AbortSignal,
  ): Promise<{ status: number; text: string }> {
    const { host, port, local } = this.address;
    const content =
      body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => reject(this.failure(error, signal));
      const options = {
        host,
        port,
        method,
        path,
        agent: false as const,
        headers: { accept: "application/json", ...content },
      };
      const request = (local ? http : https).request(options, (response) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on("data", (part: Buffer) => {
          bytes += part.length;
          if (bytes > LARGEST_ANSWER) request.destroy(new Error("too large"));
          else parts.push(part);
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }),
        );
        response.on("error", fail);
      });
      const late = setTimeout(() => request.destroy(new Error(LATE)), this.milliseconds);
      const abort = (): void => void request.destroy(new Error("cancelled"));
      signal?.addEventListener("abort", abort);
      request.on("error", fail);
      request.on("close", () => {
        clearTimeout(late);
        signal?.removeEventListener("abort", abort);
      });
      if (signal?.aborted) abort();
      request.end(body);
    });
  }

  private failure(error: NodeJS.ErrnoException, signal?: AbortSignal): ServerError {
    const there = shown(this.address);
    if (signal?.aborted) return new ServerError("cancelled", "The search was cancelled.");
    if (error.message === LATE) {
      return new ServerError(
        "late",
        `The server at ${there} did not answer within ${this.milliseconds / 1000} seconds.`,
      );
    }
    if (ABSENT.has(error.code ?? "")) return new ServerError("absent", `No search server answers at ${there}.`);
    if (ENDED.has(error.code ?? ""))
      return new ServerError("ended", "The server ended before it answered: search again.");
    return new ServerError("broken", `The server at ${there} cannot be asked: ${oneLine(error.message)}.`);
  }

  private checked<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw new ServerError(
        "broken",
        `What answers at ${shown(this.address)} is not this search's server: ${oneLine(String((error as Error).message), 120)}.`,
      );
    }
  }
}

const LATE = "late";
const NOT_READY: ReadonlySet<ServerError["kind"]> = new Set(["absent", "busy", "ended", "late"]);
const ABSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"]);
const ENDED = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** What the server said in the form of its errors; "" if it said nothing. */
function messageOf(body: unknown): string {
  const error = typeof body === "object" && body !== null ? (body as { error?: unknown }).error : "";
  return typeof error === "string" ? oneLine(error) : "";
}

function refusal(status: number, message: string, there: string): ServerError {
  const said = message && `: ${message}`;
  const lacking = /^the index has (no \w+, but .+)$/.exec(message)?.[1];
  if (status === 400 && lacking)
    return new ServerError("lacking", `The index has ${lacking.replace(/\w+/g, titleOf)}.`);
  if (status === 400) return new ServerError("refused", `The server refused the search${said}.`);
  if (status === 404 || status === 405)
    return new ServerError(
      "refused",
      `The server at ${there} is older than this extension, or another program (status ${status}${said}).`,
    );
  if (status === 409) return new ServerError("refused", "The index was replaced since: search again.");
  if (status === 413)
    return new ServerError(
      "refused",
      `The text above the query is too long for the server: lower neuralCodeSearch.contextKilobytes${message && ` (${message})`}.`,
    );
  if (status === 503)
    return new ServerError(
      "busy",
      `The server is opening its index: search again in a moment${message && ` (${message})`}.`,
    );
  return new ServerError("refused", `The server could not answer (status ${status}${said}).`);
}
