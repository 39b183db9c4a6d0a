import { problemOf, readSignIn } from "@/api/client";

import type { File as Kept } from "./queries";

/**
 * Sends a file and answers with what the server kept. It refuses what is not of the kinds in `accept`, where there are any.
 * `onProgress` gets the share that is sent, from 0 to 1.
 */
export async function uploadFile(file: File, accept: readonly string[], onProgress: (share: number) => void, signal: AbortSignal): Promise<Kept> {
  const { csrf_token } = await readSignIn();
  signal.throwIfAborted();
  return new Promise<Kept>((resolve, reject) => {
    // `fetch` does not tell how much is sent.
    const request = new XMLHttpRequest();
    const about = new URLSearchParams({ name: file.name });
    if (accept.length > 0) about.set("accept", accept.join(","));
    request.open("POST", `/api/v1/files?${about}`);
    request.setRequestHeader("content-type", file.type || "application/octet-stream");
    request.setRequestHeader("x-toolgate-csrf", csrf_token);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable && event.total > 0) onProgress(event.loaded / event.total);
    };
    request.onload = () => {
      const body = read(request.responseText);
      if (request.status === 201) resolve(body as Kept);
      else reject(problemOf(new Response(null, { status: request.status || 500 }), body));
    };
    request.onerror = () => reject(new TypeError("the upload broke off"));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
