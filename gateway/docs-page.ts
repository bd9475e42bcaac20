/**
 * The page at `/docs`, complete in itself: it reads `/openapi.json`, lists the operations by tag with their schemas,
 * sends requests and shows the curl line for each. `{{title}}` is the API's name. Everything shown is set as text, never as markup.
 */
export const DOCS_PAGE = String.raw`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{title}}</title>
<style>
:root { --ground: #fbfaf7; --card: #ffffff; --ink: #1d2126; --soft: #5d6670; --line: #e2dfd8; --accent: #0b6e62; --code: #f3f1ec;
  --get: #14633b; --post: #1d4fa0; --put: #8a5200; --patch: #6b3fa0; --delete: #a3232b; --bad: #a3232b; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171a; --card: #1c2024; --ink: #e7e5e0; --soft: #9aa3ab; --line: #30363c; --accent: #58c9b6; --code: #111417;
    --get: #6fcf97; --post: #82aaf5; --put: #e2b15c; --patch: #c39bf0; --delete: #f08a8f; --bad: #f08a8f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.55 system-ui, sans-serif; }
header, main { max-width: 60rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.5rem; padding-bottom: 1rem; }
h1 { margin: 0; font-size: 1.7rem; letter-spacing: -.01em; }
h2 { margin: 2.2rem 0 .6rem; font-size: .82rem; text-transform: uppercase; letter-spacing: .09em; color: var(--soft); }
p { margin: .4rem 0; color: var(--soft); }
a { color: var(--accent); }
.tools { display: flex; flex-wrap: wrap; gap: .6rem; margin-top: 1rem; }
input, textarea, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: .45rem .65rem; }
input:focus-visible, textarea:focus-visible, button:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.tools input { flex: 1 1 14rem; min-width: 0; }
button { cursor: pointer; }
button.go { background: var(--accent); border-color: var(--accent); color: var(--ground); font-weight: 600; }
details.op { background: var(--card); border: 1px solid var(--line); border-radius: 9px; margin: .5rem 0; }
details.op > summary { display: flex; gap: .7rem; align-items: baseline; padding: .6rem .85rem; cursor: pointer; list-style: none; flex-wrap: wrap; }
details.op > summary::-webkit-details-marker { display: none; }
.verb { font: 700 .74rem/1 ui-monospace, monospace; min-width: 3.6rem; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .patch { color: var(--patch); } .delete { color: var(--delete); }
code, pre, textarea { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .84rem; }
.path { overflow-wrap: anywhere; }
.said { color: var(--soft); margin-left: auto; }
.inside { border-top: 1px solid var(--line); padding: .9rem; }
h3 { margin: 1rem 0 .35rem; font-size: .85rem; } h3:first-child { margin-top: 0; }
pre { margin: 0; padding: .7rem .8rem; background: var(--code); border: 1px solid var(--line); border-radius: 7px; overflow: auto; max-height: 26rem; white-space: pre-wrap; overflow-wrap: anywhere; }
textarea { width: 100%; min-height: 9rem; resize: vertical; }
label { display: grid; grid-template-columns: 11rem 1fr; gap: .6rem; align-items: center; margin: .3rem 0; }
label span { font-family: ui-monospace, monospace; font-size: .84rem; overflow-wrap: anywhere; } label em { color: var(--soft); font-style: normal; font-size: .78rem; display: block; }
.row { display: flex; gap: .6rem; align-items: center; margin: .7rem 0; flex-wrap: wrap; }
.tree { font-family: ui-monospace, monospace; font-size: .84rem; } .tree ul { margin: 0; padding-left: 1.1rem; list-style: none; border-left: 1px solid var(--line); }
.tree li { margin: .12rem 0; } .tree b { font-weight: 600; } .tree i { font-style: normal; color: var(--accent); } .tree small { color: var(--soft); font-family: system-ui, sans-serif; font-size: .82rem; }
.bad { color: var(--bad); }
@media (max-width: 36rem) { label { grid-template-columns: 1fr; gap: .1rem; } .said { margin-left: 0; width: 100%; } }
</style>
</head>
<body>
<header>
<h1>{{title}}</h1>
<p id="about">Loading...</p>
<div class="tools"><input id="filter" type="search" placeholder="Filter by path or words" aria-label="Filter operations"><input id="key" type="password" placeholder="API key, if one is set" aria-label="API key" autocomplete="off"></div>
</header>
<main id="list"></main>
<script>
'use strict';
const byId = (id) => document.getElementById(id);
const make = (tag, attributes, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
let api;
const target = (schema) => schema && schema.$ref ? schema.$ref.split('/').slice(1).reduce((node, part) => node[part], api) : schema;

function kind(schema) {
  if (!schema || typeof schema !== 'object') return 'any';
  if (schema.$ref) return schema.$ref.split('/').pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const union = schema.anyOf || schema.oneOf;
  if (union) return [...new Set(union.map(kind))].join(' | ');
  if (schema.type === 'array') return 'array of ' + kind(schema.items);
  return [schema.type || 'any'].flat().join(' | ');
}

function limits(schema) {
  const parts = [];
  for (const name of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'maxItems', 'pattern']) if (schema[name] !== undefined) parts.push(name + ' ' + schema[name]);
  if (schema.default !== undefined) parts.push('default ' + JSON.stringify(schema.default));
  return parts.join(', ');
}

function members(schema) {
  const found = target(schema);
  if (!found || typeof found !== 'object') return null;
  if (found.properties) return found;
  if (found.type === 'array') return members(found.items);
  for (const option of found.anyOf || found.oneOf || found.allOf || []) { const inner = members(option); if (inner) return inner; }
  return null;
}

function tree(schema, depth) {
  const found = members(schema);
  if (!found) return make('div', { class: 'tree' }, make('i', {}, kind(schema)));
  const list = make('ul');
  for (const [name, member] of Object.entries(found.properties)) {
    const required = (found.required || []).includes(name);
    const row = make('li', {}, make('b', {}, name + (required ? ' *' : '')), ' ', make('i', {}, kind(member)), ' ');
    const words = [member.description, limits(member)].filter(Boolean).join(' · ');
    if (words) row.append(make('small', {}, words));
    if (members(member) && depth < 6) {
      const more = make('details', {}, make('summary', {}, 'members'));
      more.addEventListener('toggle', () => { if (more.open && more.children.length === 1) more.append(tree(member, depth + 1)); });
      row.append(more);
    }
    list.append(row);
  }
  return make('div', { class: 'tree' }, list);
}

function sample(schema, depth) {
  const found = target(schema);
  if (!found || typeof found !== 'object' || depth > 5) return null;
  if (found.examples) return found.examples[0];
  if (found.default !== undefined) return found.default;
  if (found.const !== undefined) return found.const;
  if (found.enum) return found.enum[0];
  const union = found.anyOf || found.oneOf;
  if (union) return sample(union[0], depth + 1);
  const type = [found.type].flat()[0];
  if (found.properties || type === 'object') {
    const made = {};
    for (const name of found.required || []) made[name] = sample((found.properties || {})[name], depth + 1);
    return made;
  }
  if (type === 'array') return [sample(found.items, depth + 1)];
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number') return found.minimum || 0;
  if (type === 'boolean') return false;
  return null;
}

const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

function form(verb, path, operation) {
  const area = make('div', { class: 'inside' });
  const fields = [];
  for (const parameter of operation.parameters || []) {
    const input = make('input', { placeholder: parameter.required ? 'required' : '' });
    fields.push([parameter, input]);
    const label = make('span', {}, parameter.name, make('em', {}, parameter.in + ', ' + kind(parameter.schema)));
    area.append(make('label', {}, label, input));
  }
  const body = operation.requestBody && operation.requestBody.content['application/json'];
  let text;
  if (body) {
    text = make('textarea', { spellcheck: 'false', 'aria-label': 'Request body' });
    text.value = JSON.stringify(sample(body.schema, 0), null, 2);
    area.append(make('h3', {}, 'Request body'), tree(body.schema, 0), make('div', { class: 'row' }), text);
  }
  const curl = make('pre');
  const output = make('pre', { hidden: '', 'aria-live': 'polite' });
  const state = make('span', { role: 'status' });
  const go = make('button', { class: 'go', type: 'button' }, 'Send');
  const stop = make('button', { type: 'button', hidden: '' }, 'Stop');
  const request = () => {
    let url = path;
    const query = new URLSearchParams();
    for (const [parameter, input] of fields) {
      if (parameter.in === 'path') url = url.replace('{' + parameter.name + '}', input.value ? input.value.split('/').map(encodeURIComponent).join('/') : '{' + parameter.name + '}');
      else if (input.value !== '') query.append(parameter.name, input.value);
    }
    if ([...query].length) url += '?' + query;
    const headers = {};
    if (text) headers['Content-Type'] = 'application/json';
    if (byId('key').value) headers.Authorization = 'Bearer ' + byId('key').value;
    return { url, headers };
  };
  const refresh = () => {
    const { url, headers } = request();
    const lines = ['curl ' + (verb === 'get' ? '' : '-X ' + verb.toUpperCase() + ' ') + quoted(location.origin + url)];
    for (const [name, value] of Object.entries(headers)) lines.push('-H ' + quoted(name + ': ' + (name === 'Authorization' ? 'Bearer $API_KEY' : value)));
    if (text) lines.push('-d ' + quoted(text.value));
    curl.textContent = lines.join(' \\\n  ');
  };
  area.addEventListener('input', refresh);
  go.addEventListener('click', async () => {
    const { url, headers } = request();
    const control = new AbortController();
    stop.onclick = () => control.abort();
    go.disabled = true; stop.hidden = false; output.hidden = false; output.textContent = ''; state.className = ''; state.textContent = 'waiting';
    const started = performance.now();
    try {
      const answer = await fetch(url, { method: verb.toUpperCase(), headers, body: text ? text.value : undefined, signal: control.signal });
      state.textContent = answer.status + ' ' + answer.statusText;
      if (!answer.ok) state.className = 'bad';
      const type = answer.headers.get('content-type') || '';
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let received = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        received += value;
        if (type.includes('event-stream')) output.textContent = received;
      }
      if (type.includes('json')) { try { received = JSON.stringify(JSON.parse(received), null, 2); } catch { } }
      output.textContent = received;
      state.textContent += ' in ' + Math.round(performance.now() - started) + ' ms';
    } catch (error) {
      state.textContent = error.name === 'AbortError' ? 'stopped' : String(error.message || error);
      state.className = 'bad';
    }
    go.disabled = false; stop.hidden = true;
  });
  byId('key').addEventListener('input', refresh);
  refresh();
  area.append(make('div', { class: 'row' }, go, stop, state), output, make('h3', {}, 'As a command'), curl);
  for (const [status, response] of Object.entries(operation.responses)) {
    const shown = response.content && Object.values(response.content).find((one) => one.schema);
    if (shown) area.append(make('h3', {}, status === 'default' ? 'Failure' : 'Answer ' + status), tree(shown.schema, 0));
  }
  return area;
}

function show() {
  byId('about').replaceChildren((api.info.description || '') + ' Version ' + api.info.version + '. ', make('a', { href: '/openapi.json' }, 'openapi.json'));
  for (const tag of api.tags) {
    const section = make('section', {}, make('h2', {}, tag.name));
    for (const [path, verbs] of Object.entries(api.paths)) for (const [verb, operation] of Object.entries(verbs)) {
      if (!operation.tags.includes(tag.name)) continue;
      const summary = make('summary', {}, make('span', { class: 'verb ' + verb }, verb.toUpperCase()), make('code', { class: 'path' }, path), make('span', { class: 'said' }, operation.summary));
      const card = make('details', { class: 'op', id: operation.operationId }, summary);
      card.dataset.words = (verb + ' ' + path + ' ' + operation.summary + ' ' + tag.name).toLowerCase();
      card.addEventListener('toggle', () => { if (card.open && card.children.length === 1) card.append(form(verb, path, operation)); });
      section.append(card);
    }
    byId('list').append(section);
  }
  const asked = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
  if (asked) { asked.open = true; asked.scrollIntoView(); }
}

byId('filter').addEventListener('input', (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const card of document.querySelectorAll('details.op')) card.hidden = !words.every((word) => card.dataset.words.includes(word));
  for (const section of document.querySelectorAll('section')) section.hidden = !section.querySelector('details.op:not([hidden])');
});

async function load() {
  const key = byId('key').value;
  const answer = await fetch('/openapi.json', { headers: key ? { Authorization: 'Bearer ' + key } : {} });
  if (answer.status === 401) throw new Error('This daemon wants its API key: enter it below.');
  if (!answer.ok) throw new Error('openapi.json answered ' + answer.status);
  api = await answer.json();
  show();
}
const tell = (error) => { byId('about').textContent = String(error.message || error); };
byId('key').addEventListener('change', () => { if (!api) load().catch(tell); });
load().catch(tell);
</script>
</body>
</html>
`;
