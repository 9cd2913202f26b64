"use strict";
(() => {
  // mark the section that is being read
  const links = [...document.querySelectorAll("nav a")];
  const sections = links.map(link => document.querySelector(link.getAttribute("href")));
  const mark = () => {
    const passed = sections.filter(section => section && section.getBoundingClientRect().top < window.innerHeight / 3);
    const current = passed[passed.length - 1];
    links.forEach((link, k) => {
      link.classList.toggle("here", sections[k] === current);
      if (sections[k] === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
})();
(() => {
  const source = document.getElementById("study-data");
  if (!source) return;
  const study = JSON.parse(source.textContent);
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const unpack = text => new Float32Array(bytes(text).buffer);
  const mean = unpack(study.mean), error = unpack(study.error);
  // what is best is decided when the page is made; here it is only shown
  const best = new Int16Array(bytes(study.best).buffer);  // -1 where a result is missing
  const flags = text => { const packed = bytes(text); return bit => Boolean(packed[bit >> 3] >> (bit & 7) & 1); };
  const isNear = flags(study.near), isClear = flags(study.clear), isFlat = flags(study.flat), allRecover = flags(study.recover);
  const { orders, measurements, sliders } = study;  // infinity is its label; without orders, the one is null
  const byId = id => document.getElementById(id);

  // where the orders at measurement m of a panel are, at one index of each slider; and where order p of them is
  const cell = (panel, at, m) => {
    let index = panel;
    sliders.forEach((slider, k) => { index = index * slider.values.length + at[k]; });
    return index * measurements.length + m;
  };
  const place = (panel, at, m, p) => cell(panel, at, m) * orders.length + p;
  const short = (x, digits) => {
    if (Number.isNaN(x)) return "?";
    if (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e4)) return x.toExponential(digits - 1).replace("e+", "e").replace("-", "−");
    return x.toPrecision(digits).includes("e") ? String(Math.round(x)) : x.toPrecision(digits);
  };
  const within = (value, spread) => `${short(value, 3)} ± ${short(spread, 2)}`;

  // ---- the maps
  const inputs = sliders.map((_, k) => byId(`slider-${k}`));
  const setting = () => inputs.map(input => Number(input.value));
  const maps = [...document.querySelectorAll(".map")];
  const [low, high] = study.range.map(Math.log10);
  const cursor = { m: measurements.length >> 1, p: Math.min(1, orders.length - 1) };

  const colour = value => {
    const share = Math.min(1, Math.max(0, (Math.log10(value) - low) / (high - low)));
    return study.colours[Math.round(share * (study.colours.length - 1))];
  };
  const paint = map => {
    const canvas = map.querySelector("canvas"), panel = Number(map.dataset.panel), at = setting();
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(map.clientWidth * ratio));
    canvas.height = Math.max(1, Math.round(map.clientHeight * ratio));
    const pen = canvas.getContext("2d");
    const x = m => Math.round(m * canvas.width / measurements.length);
    const y = p => Math.round((orders.length - p) * canvas.height / orders.length);
    for (let m = 0; m < measurements.length; m++) {
      for (let p = 0; p < orders.length; p++) {
        const value = mean[place(panel, at, m, p)];
        if (Number.isNaN(value)) continue;  // transparent: the hatching shows
        pen.fillStyle = colour(value);
        pen.fillRect(x(m), y(p + 1), x(m + 1) - x(m), y(p) - y(p + 1));
      }
      const here = cell(panel, at, m), top = best[here];
      if (isClear(here)) {
        const radius = Math.max(1.9 * ratio, Math.min(3.5 * ratio, 0.35 * (x(m + 1) - x(m))));
        pen.beginPath();
        pen.arc((x(m) + x(m + 1)) / 2, (y(top) + y(top + 1)) / 2, radius, 0, 2 * Math.PI);
        pen.fillStyle = "#fff";
        pen.strokeStyle = "#000";
        pen.lineWidth = 0.7 * ratio;
        pen.fill();
        pen.stroke();
      }
    }
  };
  const words = panel => {
    const i = place(panel, setting(), cursor.m, cursor.p);
    const where = `M = ${measurements[cursor.m]}` + (orders.length > 1 ? `, order ${orders[cursor.p]}` : "");
    return Number.isNaN(mean[i]) ? `${where}: no result yet` : `${where}: ${within(mean[i], error[i])}`;
  };
  const point = () => {
    for (const map of maps) {
      const box = map.querySelector(".cursor").style;
      box.left = `${100 * cursor.m / measurements.length}%`;
      box.width = `${100 / measurements.length}%`;
      box.top = `${100 * (orders.length - 1 - cursor.p) / orders.length}%`;
      box.height = `${100 / orders.length}%`;
      byId(`readout-${map.dataset.panel}`).textContent = words(Number(map.dataset.panel));
    }
  };
  const say = map => { byId("map-live").textContent = `${study.panels[map.dataset.panel]}: ${words(Number(map.dataset.panel))}`; };
  const slide = () => {
    setting().forEach((k, index) => {
      const text = String(sliders[index].values[k]);
      byId(`slider-${index}-value`).textContent = text;
      inputs[index].setAttribute("aria-valuetext", `${sliders[index].label} ${text}`);
    });
    maps.forEach(paint);
    point();
  };
  const clamped = (value, count) => Math.min(count - 1, Math.max(0, value));
  const moves = {
    ArrowLeft: () => { cursor.m = clamped(cursor.m - 1, measurements.length); },
    ArrowRight: () => { cursor.m = clamped(cursor.m + 1, measurements.length); },
    ArrowUp: () => { cursor.p = clamped(cursor.p + 1, orders.length); },
    ArrowDown: () => { cursor.p = clamped(cursor.p - 1, orders.length); },
    Home: () => { cursor.m = 0; },
    End: () => { cursor.m = measurements.length - 1; },
  };
  for (const map of maps) {
    const follow = event => {
      const box = map.getBoundingClientRect();
      cursor.m = clamped(Math.floor((event.clientX - box.left) / box.width * measurements.length), measurements.length);
      cursor.p = clamped(orders.length - 1 - Math.floor((event.clientY - box.top) / box.height * orders.length), orders.length);
      point();
    };
    map.addEventListener("pointermove", follow);
    map.addEventListener("pointerdown", follow);
    map.addEventListener("focus", () => say(map));
    map.addEventListener("keydown", event => {
      const move = moves[event.key];
      if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      move();
      point();
      say(map);
    });
  }
  inputs.forEach(input => input.addEventListener("input", slide));
  byId("explorer").hidden = false;
  new ResizeObserver(() => maps.forEach(paint)).observe(byId("explorer"));
  slide();

  // ---- which order, at the values of the study
  const form = byId("chooser");
  if (!form) return;
  const element = (name, text, label) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (label) made.className = label;
    return made;
  };
  const row = (found, best, largest) => {
    const made = element("tr", "", found === best ? "best" : "");
    const head = element("th", String(found.order));
    head.scope = "row";
    const last = element("td", "", "words");
    const bar = element("span", "", "bar");
    bar.style.width = `${(largest > 0 ? 100 * found.value / largest : 0).toFixed(1)}%`;
    const track = element("span", "", "track");
    track.append(bar);
    last.append(track, element("span", found === best ? "the best" : found.near ? "as good" : `${(found.value / best.value).toPrecision(3)} times`, "note"));
    made.append(head, element("td", within(found.value, found.spread)), last);
    return made;
  };
  const fill = (parts, rows) => {
    byId("chosen").replaceChildren(...parts);
    byId("chosen-orders").replaceChildren(...rows);
    form.querySelector("table").hidden = rows.length === 0;
  };
  const choose = () => {
    const at = sliders.map((_, k) => Number(byId(`choose-${k}`).value));
    const here = cell(Number(byId("choose-panel").value), at, Number(byId("choose-measurements").value));
    if (best[here] < 0) {
      fill([element("p", "The study has no result there yet.", "warning")], []);
      return;
    }
    const found = orders.map((order, p) => {
      const i = here * orders.length + p;
      return { order, value: mean[i], spread: error[i], near: isNear(i) };
    });
    const top = found[best[here]], every = allRecover(here);
    const near = found.filter(f => f.near).map(f => f.order);
    const answer = element("p", every ? "" : "Order ", "answer");
    answer.append(element("strong", every ? "Any order" : String(top.order)),
      every ? ": every order recovers such signals." : `, expected error ${within(top.value, top.spread)}.`);
    const others = near.filter(order => order !== top.order);
    const flat = every ? `Each did in ${Math.round(100 * study.recovered)}\u00a0% of the trials or more; what is left of the errors is too small to choose by.`
      : others.length === 0 ? `No other of the ${orders.length} orders is within one standard error.`
      : `${near.length} of ${orders.length} orders are within one standard error: ${near.join(", ")}.`
        + (isFlat(here) ? " The choice matters little here." : "");
    form.dataset.order = top.order;
    form.dataset.value = top.value;
    form.dataset.spread = top.spread;
    form.dataset.near = near.join(" ");
    form.dataset.allRecover = every;
    fill([answer, element("p", flat)], found.map(f => row(f, top, Math.max(...found.map(g => g.value)))));
  };
  form.addEventListener("input", choose);
  form.addEventListener("submit", event => event.preventDefault());
  form.hidden = false;
  choose();
})();
