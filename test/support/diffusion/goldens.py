"""Makes scheduler-goldens.json: runs of the schedulers of the public package `diffusers` with a network that is a formula.

pip install torch==1.13.1 "numpy<2" scipy diffusers==0.21.4 "huggingface_hub<0.20"; python goldens.py > scheduler-goldens.json
"""
import importlib
import inspect
import json
import math
import sys

import diffusers, torch
from diffusers.schedulers import (DDIMScheduler, PNDMScheduler, LMSDiscreteScheduler, EulerDiscreteScheduler,
                                  EulerAncestralDiscreteScheduler, DPMSolverMultistepScheduler)

KINDS = {"ddim": DDIMScheduler, "pndm": PNDMScheduler, "lms": LMSDiscreteScheduler, "euler": EulerDiscreteScheduler,
         "euler_a": EulerAncestralDiscreteScheduler, "dpm++": DPMSolverMultistepScheduler}
BASE = {"num_train_timesteps": 1000, "beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear",
        "steps_offset": 1, "set_alpha_to_one": False, "clip_sample": False, "skip_prk_steps": True,
        "prediction_type": "epsilon"}
CASES = [("plain", {}, 10), ("few steps", {}, 3), ("many steps", {}, 25), ("velocity", {"prediction_type": "v_prediction"}, 12),
         ("linear betas", {"beta_schedule": "linear", "beta_start": 0.0001, "beta_end": 0.02}, 8),
         ("leading", {"timestep_spacing": "leading"}, 10), ("linspace", {"timestep_spacing": "linspace"}, 10),
         ("trailing", {"timestep_spacing": "trailing"}, 10)]
SIZE = 6
calls = 0

def network(sample, t):
    return torch.sin(sample * 1.3 + float(t) / 100) * 0.5 + 0.1 * sample

def noise(*args, **kwargs):
    global calls
    calls += 1
    return torch.tensor([math.cos(calls * (i + 1)) for i in range(SIZE)], dtype=torch.float64).reshape(1, 1, 1, SIZE)

importlib.import_module("diffusers.schedulers.scheduling_euler_ancestral_discrete").randn_tensor = noise
rows = []
for name, kind in KINDS.items():
    for title, more, steps in CASES:
        known = set(inspect.signature(kind.__init__).parameters)
        config = {key: value for key, value in {**BASE, **more}.items() if key in known}
        if "timestep_spacing" in more and "timestep_spacing" not in known:
            continue
        calls = 0
        scheduler = kind(**config)
        scheduler.set_timesteps(steps)
        sample = torch.tensor([math.sin(i + 1) for i in range(SIZE)], dtype=torch.float64).reshape(1, 1, 1, SIZE) * float(scheduler.init_noise_sigma)
        path = []
        for t in scheduler.timesteps:
            scaled = scheduler.scale_model_input(sample, t)
            sample = scheduler.step(network(scaled, t), t, sample).prev_sample.to(torch.float64)
            path.append([float(value) for value in sample.flatten()])
        rows.append({"scheduler": name, "title": title, "config": {**BASE, **more}, "steps": steps,
                     "timesteps": [float(t) for t in scheduler.timesteps], "initSigma": float(scheduler.init_noise_sigma),
                     "middle": path[len(path) // 2], "last": path[-1]})
json.dump({"made_with": {"diffusers": diffusers.__version__, "torch": torch.__version__}, "rows": rows}, sys.stdout, indent=1)
