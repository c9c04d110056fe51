// Calls without content that every page begins with, made before the code of calls is here.

const paths = [
  '/dashboard.orgs.v1.OrgsService/List',
  '/dashboard.projects.v1.ProjectsService/List',
];

const binary = { 'content-type': 'application/proto', 'connect-protocol-version': '1' };

/** By path and credential: nobody takes the answer to somebody else. */
const answers = new Map<string, Promise<Response>>();
/** The app is here, and makes its calls by itself. */
let isOver = false;

/** In Connect's binary form, in which a message without content has no byte. */
export function callEarly(accessToken: string): void {
  if (isOver) return;
  const authorization = `Bearer ${accessToken}`;
  for (const path of paths) {
    const answer = fetch(path, {
      method: 'POST',
      headers: { authorization, ...binary },
    });
    // Whoever takes the answer is told.
    answer.catch(() => {});
    answers.set(path + authorization, answer);
  }
}

/** The `fetch` of calls: the first one that was made early has that answer, and every other is made. */
export const fetchOnce: typeof fetch = (input, init) => {
  isOver = true;
  const { pathname } = new URL(String(input), window.location.href);
  const name = pathname + new Headers(init?.headers).get('authorization');
  const answer = answers.get(name);
  answers.delete(name);
  return answer ?? fetch(input, init);
};
