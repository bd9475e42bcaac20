"""Makes published-goldens.json: runs of newer schedulers of the public package `diffusers`, set up as published models are.

pip install torch diffusers scipy; python published-goldens.py > published-goldens.json
"""
import importlib
import json
import math
import sys

import diffusers, torch

NAMES = {"ddim": "DDIMScheduler", "pndm": "PNDMScheduler", "lms": "LMSDiscreteScheduler", "euler": "EulerDiscreteScheduler",
         "euler_a": "EulerAncestralDiscreteScheduler", "dpm++": "DPMSolverMultistepScheduler", "lcm": "LCMScheduler", "unipc": "UniPCMultistepScheduler"}
SD = {"num_train_timesteps": 1000, "beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear", "steps_offset": 1}
ZERO = {**SD, "prediction_type": "v_prediction", "rescale_betas_zero_snr": True, "timestep_spacing": "trailing"}
BETAS = {"num_train_timesteps": 20, "trained_betas": [0.01 + 0.02 * i / 20 for i in range(20)]}
KARRAS = {**SD, "use_karras_sigmas": True}
NO_ZERO = {"final_sigmas_type": "sigma_min"}
CASES = [
    ("pndm", "SD 1.5", {**SD, "skip_prk_steps": True, "set_alpha_to_one": False, "trained_betas": None}, 20),
    ("ddim", "SD 2.1", {**SD, "prediction_type": "v_prediction", "set_alpha_to_one": False, "clip_sample": False}, 20),
    ("ddim", "no signal at the end", {**ZERO, "clip_sample": False}, 12),
    ("ddim", "own betas", {**BETAS, "clip_sample": False}, 5),
    ("lms", "Karras", KARRAS, 12),
    ("lms", "exponential", {**SD, "use_exponential_sigmas": True}, 9),
    ("euler", "SDXL", {**SD, "timestep_spacing": "leading", "interpolation_type": "linear", "use_karras_sigmas": False}, 20),
    ("euler", "turbo, 1 step", {**SD, "timestep_spacing": "trailing"}, 1),
    ("euler", "Karras", {**KARRAS, "timestep_spacing": "leading"}, 12),
    ("euler", "Karras, 1 step", KARRAS, 1),
    ("euler", "exponential", {**SD, "use_exponential_sigmas": True}, 9),
    ("euler", "no signal at the end", ZERO, 12),
    ("euler_a", "turbo, 4 steps", {**SD, "timestep_spacing": "trailing"}, 4),
    ("euler_a", "no signal at the end", ZERO, 12),
    ("euler_a", "Karras in the file", KARRAS, 7),
    ("dpm++", "plain", SD, 20),
    ("dpm++", "Karras", KARRAS, 20),
    ("dpm++", "Karras, few steps", {**KARRAS, **NO_ZERO}, 6),
    ("dpm++", "Karras, first order at the end", {**KARRAS, **NO_ZERO, "euler_at_final": True}, 20),
    ("dpm++", "Karras, second order at the end", {**KARRAS, **NO_ZERO, "lower_order_final": False}, 6),
    ("dpm++", "stochastic", {**SD, "algorithm_type": "sde-dpmsolver++"}, 12),
    ("dpm++", "stochastic, Karras", {**KARRAS, "algorithm_type": "sde-dpmsolver++"}, 20),
    ("dpm++", "on noise", {**SD, **NO_ZERO, "algorithm_type": "dpmsolver"}, 12),
    ("dpm++", "on noise, velocity", {**SD, **NO_ZERO, "algorithm_type": "dpmsolver", "prediction_type": "v_prediction"}, 12),
    ("dpm++", "on noise, stochastic", {**SD, **NO_ZERO, "algorithm_type": "sde-dpmsolver"}, 12),
    ("dpm++", "first order", {**SD, "solver_order": 1}, 12),
    ("dpm++", "no signal at the end", ZERO, 12),
    ("unipc", "plain", SD, 20),
    ("unipc", "few steps", SD, 4),
    ("unipc", "1 step", SD, 1),
    ("unipc", "Karras, leading", {**KARRAS, "timestep_spacing": "leading"}, 12),
    ("unipc", "second order at the end", {**SD, **NO_ZERO, "lower_order_final": False}, 8),
    ("unipc", "first order", {**SD, "solver_order": 1}, 8),
    ("unipc", "no signal at the end", ZERO, 12),
    ("lcm", "4 steps", {**SD, "original_inference_steps": 50, "timestep_scaling": 10.0, "clip_sample": False}, 4),
    ("lcm", "its defaults", {}, 6),
    ("lcm", "1 step", SD, 1),
    ("lcm", "all steps", SD, 50),
    ("lcm", "velocity, clipped", {**SD, "prediction_type": "v_prediction", "clip_sample": True, "timestep_scaling": 0.01}, 5),
]
SIZE = 6
calls = 0

def network(sample, t):
    return torch.sin(sample * 1.3 + float(t) / 100) * 0.5 + 0.1 * sample

def noise(*args, **kwargs):
    global calls
    calls += 1
    return torch.tensor([math.cos(calls * (i + 1)) for i in range(SIZE)], dtype=torch.float64).reshape(1, 1, 1, SIZE)

for module in ("euler_ancestral_discrete", "dpmsolver_multistep", "lcm"):
    importlib.import_module(f"diffusers.schedulers.scheduling_{module}").randn_tensor = noise
rows = []
for name, title, config, steps in CASES:
    calls = 0
    scheduler = getattr(diffusers, NAMES[name]).from_config(config)
    scheduler.set_timesteps(steps)
    sample = torch.tensor([math.sin(i + 1) for i in range(SIZE)], dtype=torch.float64).reshape(1, 1, 1, SIZE) * float(scheduler.init_noise_sigma)
    path = []
    for t in scheduler.timesteps:
        sample = scheduler.step(network(scheduler.scale_model_input(sample, t), t), t, sample).prev_sample.to(torch.float64)
        path.append([round(float(value), 6) for value in sample.flatten()])
    rows.append({"scheduler": name, "title": title, "config": {**config, "_class_name": NAMES[name]}, "steps": steps,
                 "timesteps": [round(float(t), 4) for t in scheduler.timesteps], "initSigma": float(scheduler.init_noise_sigma),
                 "middle": path[len(path) // 2], "last": path[-1]})
lines = ",\n  ".join(json.dumps(row) for row in rows)
sys.stdout.write(f'{{ "made_with": {json.dumps({"diffusers": diffusers.__version__, "torch": torch.__version__})}, "rows": [\n  {lines}\n] }}\n')
