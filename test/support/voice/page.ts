/**
 * A page that talks: it sends what its microphone hears to the address in `?socket=`, as PCM or, with `?form=webm`, as its recorder makes it; plays what comes
 * back; throws away what is not played when it is interrupted; and hands all messages to its server when `?until=` utterances have been answered.
 */
export const VOICE_PAGE = `<!doctype html>
<meta charset="utf-8">
<title>Voice</title>
<script type="module">
const asked = new URLSearchParams(location.search);
const seen = [];
const note = (message) => seen.push({ atMs: Math.round(performance.now()), ...message });
const report = () => fetch('/report', { method: 'POST', body: JSON.stringify(seen) });
const worklet = 'registerProcessor("ear", class extends AudioWorkletProcessor { process([input]) { if (input[0]) this.port.postMessage(input[0].slice()); return true; } })';
try {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false } });
  const ear = new AudioContext({ sampleRate: 16000 });
  await ear.audioWorklet.addModule(URL.createObjectURL(new Blob([worklet], { type: 'text/javascript' })));
  const mouth = new AudioContext({ sampleRate: 24000 });
  const socket = new WebSocket(asked.get('socket'));
  socket.binaryType = 'arraybuffer';
  let playing = [];
  let free = 0;
  let audio = 0;
  let answered = 0;
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') {
      const pcm = new Int16Array(data);
      audio += pcm.length;
      const buffer = mouth.createBuffer(1, pcm.length, 24000);
      buffer.copyToChannel(Float32Array.from(pcm, (sample) => sample / 32768), 0);
      const source = mouth.createBufferSource();
      source.buffer = buffer;
      source.connect(mouth.destination);
      free = Math.max(free, mouth.currentTime);
      source.start(free);
      free += buffer.duration;
      playing.push(source);
      return;
    }
    const message = JSON.parse(data);
    note({ ...message, samples: audio });
    if (message.state === 'interrupted') {
      for (const source of playing) source.stop();
      playing = [];
      free = 0;
    }
    if (message.type === 'transcription' && message.is_final) answered += 1;
    if (message.state === 'idle' && answered >= Number(asked.get('until'))) report();
  };
  socket.onclose = ({ code }) => { note({ type: 'close', code }); report(); };
  await new Promise((resolve) => { socket.onopen = resolve; });
  if (asked.get('form') === 'webm') {
    const recorder = new MediaRecorder(microphone, { mimeType: 'audio/webm;codecs=opus' });
    recorder.ondataavailable = ({ data }) => data.arrayBuffer().then((bytes) => socket.send(bytes));
    recorder.start(100);
  }
  const node = new AudioWorkletNode(ear, 'ear');
  let waiting = [];
  node.port.onmessage = ({ data }) => {
    waiting.push(data);
    // 128 samples come at a time; 20 ms go out.
    if (waiting.length < 3 || socket.readyState !== WebSocket.OPEN) return;
    const samples = waiting.flatMap((piece) => [...piece]);
    waiting = [];
    socket.send(Int16Array.from(samples, (sample) => Math.max(-1, Math.min(1, sample)) * 32767));
  };
  if (asked.get('form') === 'pcm') ear.createMediaStreamSource(microphone).connect(node);
  note({ type: 'listening', rate: ear.sampleRate });
} catch (error) {
  note({ type: 'failed', message: String(error) });
  report();
}
</script>`;
